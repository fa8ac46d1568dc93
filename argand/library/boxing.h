// From the C++ types of a kernel's arguments and results to schemas and to stacks of IValues, and back.
#pragma once
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>

#include "argand/autograd/dict.h"
#include "argand/autograd/list.h"
#include "argand/library/dispatch_key.h"

namespace argand {

// The stack from whose end boxed kernels take their arguments (in order), and on which they leave their results.
using Stack = std::vector<IValue>;

namespace library {

// Traits of a C++ argument or result type: `text` is its name in a schema, `Held` the value that a boxed call keeps.
template <class T, class = void>
struct TypeOf {
  static_assert(
      sizeof(T) == 0,
      "a kernel of an op takes and returns Tensor, int64_t, double, bool, Scalar, std::string, "
      "std::string_view, ScalarType, Device, Layout, MemoryFormat, Generator, and std::optional, std::vector, "
      "ArrayRef, List, Dict and std::tuple of them");
};
template <class T>
struct Holds {
  using Held = T;
  static const T& given(const T& held) { return held; }
};
template <>
struct TypeOf<Tensor> : Holds<Tensor> {
  static std::string text() { return "Tensor"; }
  static Tensor unbox(const IValue& v) { return v.isNone() ? Tensor() : v.toTensor(); }
  static IValue box(const Tensor& v) { return v; }
};
template <>
struct TypeOf<IValue> : Holds<IValue> {
  static IValue unbox(const IValue& v) { return v; }
  static IValue box(const IValue& v) { return v; }
};
template <>
struct TypeOf<int64_t> : Holds<int64_t> {
  static std::string text() { return "int"; }
  static int64_t unbox(const IValue& v) { return v.toInt(); }
  static IValue box(int64_t v) { return v; }
};
template <>
struct TypeOf<double> : Holds<double> {
  static std::string text() { return "float"; }
  static double unbox(const IValue& v) { return v.isInt() ? static_cast<double>(v.toInt()) : v.toDouble(); }
  static IValue box(double v) { return v; }
};
template <>
struct TypeOf<bool> : Holds<bool> {
  static std::string text() { return "bool"; }
  static bool unbox(const IValue& v) { return v.toBool(); }
  static IValue box(bool v) { return v; }
};
template <>
struct TypeOf<Scalar> : Holds<Scalar> {
  static std::string text() { return "Scalar"; }
  static Scalar unbox(const IValue& v) { return v.toScalar(); }
  static IValue box(const Scalar& v) { return v; }
};
template <>
struct TypeOf<std::string> : Holds<std::string> {
  static std::string text() { return "str"; }
  static std::string unbox(const IValue& v) { return v.toStringRef(); }
  static IValue box(std::string v) { return v; }
};
template <>
struct TypeOf<std::string_view> : TypeOf<std::string> {
  static std::string_view given(const std::string& held) { return held; }
  static IValue box(std::string_view v) { return std::string(v); }
};
template <>
struct TypeOf<Device> : Holds<Device> {
  static std::string text() { return "Device"; }
  static Device unbox(const IValue& v) { return v.toDevice(); }
  static IValue box(const Device& v) { return v; }
};
template <>
struct TypeOf<Generator> : Holds<Generator> {
  static std::string text() { return "Generator"; }
  static Generator unbox(const IValue& v) { return v.toGenerator(); }
  static IValue box(const Generator& v) { return v; }
};
// ScalarType, Layout and MemoryFormat are passed as integers.
template <class T>
struct TypeOf<T, std::enable_if_t<std::is_enum_v<T>>> : Holds<T> {
  static std::string text() { return "int"; }
  static T unbox(const IValue& v) { return static_cast<T>(v.toInt()); }
  static IValue box(T v) { return static_cast<int64_t>(v); }
};
template <class T>
struct TypeOf<std::optional<T>> {
  using Held = std::optional<typename TypeOf<T>::Held>;
  static std::string text() { return TypeOf<T>::text() + "?"; }
  static Held unbox(const IValue& v) { return v.isNone() ? Held() : Held(TypeOf<T>::unbox(v)); }
  static IValue box(const std::optional<T>& v) { return v ? TypeOf<T>::box(*v) : IValue(); }
  static std::optional<T> given(const Held& held) {
    return held ? std::optional<T>(TypeOf<T>::given(*held)) : std::nullopt;
  }
};
template <class T>
struct TypeOf<std::vector<T>> : Holds<std::vector<T>> {
  static std::string text() { return TypeOf<T>::text() + "[]"; }
  static std::vector<T> unbox(const IValue& v) {
    if constexpr (std::is_same_v<T, Tensor>) {
      if (v.isTensorList()) return v.toTensorVector();
    } else if constexpr (std::is_same_v<T, int64_t>) {
      if (v.isIntList()) return v.toIntVector();
    } else if constexpr (std::is_same_v<T, double>) {
      if (v.isDoubleList()) return v.toDoubleVector();
    }
    std::vector<T> out;
    for (const IValue& e : v.toListRef()) out.push_back(TypeOf<T>::unbox(e));
    return out;
  }
  template <class List>
  static IValue box(const List& v) {
    if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, int64_t> || std::is_same_v<T, double>) {
      return std::vector<T>(v.begin(), v.end());
    } else {
      std::vector<IValue> out;
      for (const T& e : v) out.push_back(TypeOf<T>::box(e));
      return out;
    }
  }
};
template <class T>
struct TypeOf<ArrayRef<T>> : TypeOf<std::vector<T>> {
  static ArrayRef<T> given(const std::vector<T>& held) { return held; }
};
template <class T>
struct TypeOf<List<T>> : Holds<List<T>> {
  static std::string text() { return TypeOf<T>::text() + "[]"; }
  static List<T> unbox(const IValue& v) {
    if constexpr (std::is_same_v<T, Tensor>) {
      if (v.isTensorList()) return v.toTensorList();
    } else if constexpr (std::is_same_v<T, int64_t>) {
      if (v.isIntList()) return v.toIntList();
    } else if constexpr (std::is_same_v<T, double>) {
      if (v.isDoubleList()) return v.toDoubleList();
    }
    return List<T>(std::make_shared<std::vector<T>>(TypeOf<std::vector<T>>::unbox(v)));
  }
  static IValue box(const List<T>& v) { return v; }
};
template <class Key, class Mapped>
struct TypeOf<Dict<Key, Mapped>> : Holds<Dict<Key, Mapped>> {
  static std::string text() { return "Dict(" + TypeOf<Key>::text() + ", " + TypeOf<Mapped>::text() + ")"; }
  static Dict<Key, Mapped> unbox(const IValue& v) { return Dict<Key, Mapped>(v.dict_elements()); }
  static IValue box(const Dict<Key, Mapped>& v) { return v; }
};
template <class... T>
struct TypeOf<std::tuple<T...>> : Holds<std::tuple<T...>> {
  static std::string text() {
    std::string out;
    ((out += (out.empty() ? "" : ", ") + TypeOf<T>::text()), ...);
    return "(" + out + ")";
  }
  static std::tuple<T...> unbox(const IValue& v) {
    const std::vector<IValue>& elements = v.toTupleRef().elements();
    ARGAND_CHECK(ValueError, elements.size() == sizeof...(T), "IValue: expected a tuple of ", sizeof...(T), ", got ",
                 elements.size());
    return unbox(elements, std::index_sequence_for<T...>());
  }
  template <size_t... i>
  static std::tuple<T...> unbox(const std::vector<IValue>& elements, std::index_sequence<i...>) {
    return {TypeOf<T>::unbox(elements[i])...};
  }
  static IValue box(const std::tuple<T...>& v) {
    return std::apply([](const auto&... e) { return IValue(ivalue::Tuple::create({TypeOf<T>::box(e)...})); }, v);
  }
};
template <>
struct TypeOf<OptionalIntArrayRef> : TypeOf<std::optional<std::vector<int64_t>>> {
  static IValue box(const OptionalIntArrayRef& v) { return v.has_value() ? IValue(v.value()) : IValue(); }
  static OptionalIntArrayRef given(const Held& held) { return held ? OptionalIntArrayRef(*held) : std::nullopt; }
};

template <class T>
using TypeOfArgument = TypeOf<std::remove_cv_t<std::remove_reference_t<T>>>;

// Results: none, one, or several in a std::tuple.
template <class R>
struct Results {
  static void push(Stack& stack, const R& result) { stack.push_back(TypeOfArgument<R>::box(result)); }
  static std::decay_t<R> pop(Stack& stack) { return TypeOfArgument<R>::unbox(stack.front()); }
  static void texts(std::vector<std::string>& out) { out.push_back(TypeOfArgument<R>::text()); }
};
template <>
struct Results<void> {
  // harmless: there are no results
  static void pop(Stack&) {}
  static void texts(std::vector<std::string>&) {}
};
template <class... R>
struct Results<std::tuple<R...>> {
  static void push(Stack& stack, const std::tuple<R...>& results) {
    std::apply([&](const auto&... r) { (stack.push_back(TypeOfArgument<R>::box(r)), ...); }, results);
  }
  static std::tuple<R...> pop(Stack& stack) {
    size_t i = 0;
    return std::tuple<R...>{TypeOfArgument<R>::unbox(stack[i++])...};
  }
  static void texts(std::vector<std::string>& out) { (out.push_back(TypeOfArgument<R>::text()), ...); }
};

// The FunctionSchema of a kernel's C++ type, without names.
std::shared_ptr<void> schema_of_types(const std::vector<std::string>& arguments,
                                      const std::vector<std::string>& returns);

}  // namespace library

template <class T>
T IValue::to() const {
  return library::TypeOf<T>::unbox(*this);
}

}  // namespace argand
