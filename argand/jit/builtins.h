// The functions of TorchScript that are no ops on tensors: on numbers, texts, lists, dicts, and on tensors as objects.
// They share their names with ops, so each looks at its arguments and declines those that are not its own.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "argand/autograd/ivalue.h"
#include "argand/autograd/typed_list.h"

namespace argand::jit {

struct BuiltinCall {
  const std::string& name;
  std::span<IValue> arguments;
  std::span<const std::string> keywords;  // of the last arguments

  size_t size() const { return arguments.size(); }
  size_t positional() const { return arguments.size() - keywords.size(); }
  IValue& operator[](size_t i) const { return arguments[i]; }
  // The argument at a position or of a name; null if neither is there, or if it is None.
  const IValue* given(size_t position, std::string_view keyword) const;
  template <class... Parts>
  void need(bool condition, const Parts&... parts) const {
    ARGAND_CHECK(ValueError, condition, name, ": ", parts...);
  }
};

// False: the arguments are not for this function.
using Builtin = bool (*)(const BuiltinCall& call, IValue& result);
struct NamedBuiltin {
  std::string_view name;
  Builtin function;
};

// Finds a builtin by its name without the namespace; null if there is none.
Builtin find_builtin(const std::string& name);

// ValueError for a list or a text of more elements than this, which a program would otherwise fill memory with.
inline constexpr int64_t kMostElements = int64_t{1} << 32;
inline void check_length(const BuiltinCall& c, size_t length, int64_t times) {
  c.need(length == 0 || times <= kMostElements / static_cast<int64_t>(length), "a list or a text of ", length,
         " times ", times, " elements is too long");
}

// The tables, each in a file of its subject.
std::span<const NamedBuiltin> number_builtins();
std::span<const NamedBuiltin> list_builtins();
std::span<const NamedBuiltin> dict_builtins();
std::span<const NamedBuiltin> text_builtins();
std::span<const NamedBuiltin> text_layout_builtins();
std::span<const NamedBuiltin> tensor_builtins();
std::span<const NamedBuiltin> value_builtins();

// Helpers that several of the functions and the interpreter use.
bool truth(const IValue& v);                   // of a condition: a bool, a number, a tensor of one element
bool equal(const IValue& a, const IValue& b);  // as ==; tensors must be the same
IValue element_of(const IValue& container, const IValue& key);
void set_element(const IValue& container, const IValue& key, IValue value);
std::string text_of(const IValue& v);  // as str()
size_t length_of(const IValue& v);
// A position in a sequence; from its end if it is negative.  IndexError if it is outside.
size_t position_of(int64_t index, size_t size);
// start:stop:step of a list, a tuple or a text.
IValue slice_of(const IValue& v, const IValue& start, const IValue& stop, const IValue& step);
IValue number_of(const Scalar& s);  // bool, int, float or complex

}  // namespace argand::jit
