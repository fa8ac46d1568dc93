// A value of one of the types that AutogradContext::saved_data keeps, that user-defined ops take and return, and that
// TorchScript programs compute with, with LibTorch's accessors.  Lists, tuples, dicts and objects are handles: copies
// of the IValue share their elements.  Containers nested to any depth are freed without deep recursion.
#pragma once
#include <iosfwd>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "argand/core/tensor.h"

namespace argand {

class IValue;
template <class T>
class List;
template <class Key, class Mapped>
class Dict;
namespace ivalue {
class Tuple;
class Object;
struct DictElements;
}  // namespace ivalue
namespace jit {
class Module;
}

class IValue {
 public:
  IValue();
  IValue(const IValue&);
  IValue(IValue&&) noexcept;
  IValue& operator=(const IValue&);
  IValue& operator=(IValue&&) noexcept;
  ~IValue();
  IValue(Tensor v);
  IValue(bool v);
  IValue(double v);
  IValue(int64_t v);
  template <class I, std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>, int> = 0>
  IValue(I v) : IValue(static_cast<int64_t>(v)) {}
  IValue(const Scalar& v);
  IValue(std::string v);
  IValue(const char* v);
  IValue(std::string_view v) : IValue(std::string(v)) {}
  IValue(IntArrayRef v);
  IValue(std::vector<int64_t> v);
  IValue(std::vector<double> v);
  IValue(std::vector<Tensor> v);
  IValue(const Device& v);
  IValue(Generator v);
  IValue(std::vector<IValue> v);  // a list of anything
  IValue(intrusive_ptr<ivalue::Tuple> v);
  IValue(std::shared_ptr<ivalue::DictElements> v);
  IValue(intrusive_ptr<ivalue::Object> v);
  IValue(std::complex<double> v) : IValue(Scalar(v)) {}
  template <class T>
  IValue(std::optional<T> v) : IValue() {
    if (v) *this = IValue(std::move(*v));
  }
  template <class T, std::enable_if_t<std::is_same_v<T, bool> || std::is_same_v<T, std::string>, int> = 0>
  IValue(const std::vector<T>& v) : IValue(std::vector<IValue>(v.begin(), v.end())) {}
  template <class T>
  IValue(const List<T>& v) : IValue() {
    if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double> || std::is_same_v<T, Tensor> ||
                  std::is_same_v<T, IValue>)
      share(v.elements());
    else
      *this = IValue(std::vector<IValue>(v.begin(), v.end()));
  }
  template <class Key, class Mapped>
  IValue(const Dict<Key, Mapped>& v) : IValue(v.elements()) {}
  template <class... T>
  IValue(const std::tuple<T...>& v)
      : IValue(tuple_of(std::apply([](const auto&... e) { return std::vector<IValue>{IValue(e)...}; }, v))) {}

  // In the order of Value.
  enum class Kind : uint8_t {
    kNone,
    kTensor,
    kBool,
    kInt,
    kDouble,
    kScalar,
    kString,
    kIntList,
    kDoubleList,
    kTensorList,
    kDevice,
    kGenerator,
    kList,  // of anything else
    kTuple,
    kDict,
    kObject
  };
  Kind kind() const;
  bool isNone() const;
  bool isTensor() const;
  bool isBool() const;
  bool isInt() const;
  bool isDouble() const;
  bool isString() const;
  bool isIntList() const;
  bool isDoubleList() const;
  bool isTensorList() const;
  bool isBoolList() const;  // and not empty
  bool isDevice() const;
  bool isGenerator() const;
  bool isGenericList() const;  // a list of anything else than int, double or Tensor
  bool isList() const;
  bool isTuple() const;
  bool isGenericDict() const;
  bool isObject() const;
  bool isModule() const;  // an object of TorchScript that is a module
  bool isComplexDouble() const;
  bool isScalar() const;        // a number or a bool
  std::string tagKind() const;  // "Tensor", "Int", "GenericList", ...

  // ValueError if it holds another type.
  const Tensor& toTensor() const;
  bool toBool() const;
  int64_t toInt() const;
  double toDouble() const;
  const std::string& toStringRef() const;
  std::string_view toStringView() const { return toStringRef(); }
  Scalar toScalar() const;
  const std::vector<int64_t>& toIntVector() const;
  const std::vector<int64_t>& toSymIntVector() const { return toIntVector(); }  // never symbolic
  const std::vector<double>& toDoubleVector() const;
  const std::vector<Tensor>& toTensorVector() const;
  const Device& toDevice() const;
  const Generator& toGenerator() const;
  const std::vector<IValue>& toListRef() const;  // only for a list of anything
  // Handles to the held elements.  toList() of a list of int, double or Tensor gives a copy; so does toBoolList().
  List<int64_t> toIntList() const;
  List<double> toDoubleList() const;
  List<bool> toBoolList() const;
  List<Tensor> toTensorList() const;
  List<IValue> toList() const;
  const intrusive_ptr<ivalue::Tuple>& toTuple() const;
  const ivalue::Tuple& toTupleRef() const;
  Dict<IValue, IValue> toGenericDict() const;
  const std::shared_ptr<ivalue::DictElements>& dict_elements() const;
  const intrusive_ptr<ivalue::Object>& toObject() const;
  jit::Module toModule() const;  // defined in argand/jit
  std::complex<double> toComplexDouble() const;
  // Converts to the C++ type T of an argument or result of an op (argand/library/boxing.h).
  template <class T>
  T to() const;
  template <class T>
  std::optional<T> toOptional() const {
    return isNone() ? std::nullopt : std::optional<T>(to<T>());
  }

  // Equal if both have one type and the same value, element by element.  Tensors are equal if they are the same tensor.
  friend bool operator==(const IValue& a, const IValue& b);
  // As Python's str: None, True, 1., [1, 2], {3: 1.5}.
  friend std::ostream& operator<<(std::ostream& out, const IValue& v);

 private:
  struct Value;
  template <class T>
  explicit IValue(std::in_place_type_t<T>, T v);
  void share(const std::shared_ptr<std::vector<int64_t>>& v);
  void share(const std::shared_ptr<std::vector<double>>& v);
  void share(const std::shared_ptr<std::vector<Tensor>>& v);
  void share(const std::shared_ptr<std::vector<IValue>>& v);
  static intrusive_ptr<ivalue::Tuple> tuple_of(std::vector<IValue> elements);
  Value& value();
  const Value& value() const;
  void destroy_container() noexcept;
  template <class T>
  bool is() const;
  template <class T>
  const T& get(const char* name) const;
  alignas(void*) unsigned char bytes_[40];  // a Value; a variant here would cost every user's compiler
};

namespace ivalue {

class Tuple final : public RefCounted {
 public:
  explicit Tuple(std::vector<IValue> elements) : elements_(std::move(elements)) {}
  static intrusive_ptr<Tuple> create(std::vector<IValue> elements) {
    return intrusive_ptr<Tuple>(new Tuple(std::move(elements)));
  }
  template <class... T, std::enable_if_t<(sizeof...(T) > 1), int> = 0>
  static intrusive_ptr<Tuple> create(T&&... elements) {
    return create(std::vector<IValue>{IValue(std::forward<T>(elements))...});
  }
  // A tuple whose elements have names: `fields` are those of its type, whose qualified name is `type`.
  struct Names {
    std::string type;
    std::vector<std::string> fields;
  };
  static intrusive_ptr<Tuple> createNamed(std::vector<IValue> elements, std::shared_ptr<const Names> names) {
    intrusive_ptr<Tuple> out = create(std::move(elements));
    out->names_ = std::move(names);
    return out;
  }
  const Names* names() const { return names_.get(); }  // null for a tuple without names
  const std::vector<IValue>& elements() const { return elements_; }
  size_t size() const { return elements_.size(); }
  void setElements(std::vector<IValue> elements) { elements_ = std::move(elements); }

 private:
  std::vector<IValue> elements_;
  std::shared_ptr<const Names> names_;
};

// An object of a class that a TorchScript program defines; argand/jit has the class behind it.
class Object : public RefCounted {
 public:
  virtual std::string type_name() const = 0;  // "__torch__.Net"
  virtual bool is_module() const = 0;
  // ValueError for a name that its class does not declare.
  virtual const IValue& getAttr(const std::string& name) const = 0;
  virtual void setAttr(const std::string& name, IValue value) = 0;
};

}  // namespace ivalue
}  // namespace argand
