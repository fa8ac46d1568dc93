// Calls from Python to functions that come in overloads, each with the parameters of a schema.
//
// The tables of overloads are generated from the op definitions (tools/generate/python_front.py); a few functions that
// are no ops write theirs by hand.  An overload is chosen as PyTorch does: the first whose parameters take the
// arguments as they are, else the first that takes them converted (NumPy's numbers, tensors of one element).
#pragma once
#include <array>
#include <span>

#include "bindings/numbers.h"
#include "bindings/tensor_object.h"

namespace argand::python {

enum class Kind : uint8_t {
  kTensor,
  kTensorOrNumber,
  kTensorList,
  kInt,
  kIntList,
  kFloat,
  kFloatList,
  kBool,
  kBoolList,
  kText,
  kScalar,
  kScalarList,
  kDtype,
  kLayout,
  kDevice,
  kMemoryFormat,
  kGenerator,
  kAny,
};

struct Parameter {
  const char* name;
  Kind kind;
  bool optional = false;     // takes None
  bool has_default = false;  // may be left out
  bool keyword_only = false;
  uint8_t length = 0;       // of a list: one number stands for `length` equal ones; 0: any length, no number
  bool one_by_one = false;  // a last list of tensors that may be given as arguments
};

class Call;
struct Overload {
  const char* signature;  // as messages and documentation show it; empty: they do not
  std::span<const Parameter> parameters;
  PyObject* (*call)(const Call&);
  const char* const* result_names;  // of several results, and a null behind them; or null
};
struct FunctionTable {
  const char* name;
  const char* documentation;
  std::span<const Overload> overloads;
  bool takes_sublists = false;  // bindings/einsum.h
};

// The arguments of one call, bound to the parameters of an overload.  Accessors throw nb::python_error with a TypeError
// that names function, argument and position if an element of a list is not what it should be.
class Call {
 public:
  static constexpr size_t kMaxParameters = 24;

  const FunctionTable& table() const { return *table_; }
  const Overload& overload() const { return *overload_; }
  bool has(size_t i) const { return values_[i]; }
  PyObject* object(size_t i) const { return values_[i]; }  // null: left out

  const Tensor& tensor(size_t i) const;
  Tensor operand(size_t i) const;  // a number becomes a wrapped number
  std::optional<Tensor> optional_tensor(size_t i) const;
  std::vector<Tensor> tensors(size_t i) const;  // None among them is an undefined tensor
  int64_t integer(size_t i, int64_t otherwise = 0) const { return has(i) ? to_integer(values_[i]) : otherwise; }
  std::optional<int64_t> optional_integer(size_t i) const;
  Dims integers(size_t i, Dims otherwise = {}) const;
  std::optional<Dims> optional_integers(size_t i) const;
  double number(size_t i, double otherwise = 0) const { return has(i) ? to_double(values_[i]) : otherwise; }
  std::optional<double> optional_number(size_t i) const;
  std::optional<std::vector<double>> optional_numbers(size_t i) const;
  std::vector<double> numbers(size_t i) const { return *optional_numbers(i); }
  bool boolean(size_t i, bool otherwise = false) const { return has(i) ? truth(values_[i]) : otherwise; }
  std::optional<bool> optional_boolean(size_t i) const;
  std::string text(size_t i, const char* otherwise = "") const { return has(i) ? to_text(values_[i]) : otherwise; }
  std::optional<std::string> optional_text(size_t i) const;
  Scalar scalar(size_t i, const Scalar& otherwise = 0) const { return has(i) ? number_of(values_[i]) : otherwise; }
  std::optional<Scalar> optional_scalar(size_t i) const;
  std::vector<Scalar> scalars(size_t i) const;
  ScalarType dtype(size_t i, ScalarType otherwise = kFloat) const { return optional_dtype(i).value_or(otherwise); }
  std::optional<ScalarType> optional_dtype(size_t i) const;
  Device device(size_t i) const { return *optional_device(i); }
  std::optional<Device> optional_device(size_t i) const;
  MemoryFormat memory_format(size_t i, MemoryFormat otherwise) const {
    return optional_memory_format(i).value_or(otherwise);
  }
  std::optional<MemoryFormat> optional_memory_format(size_t i) const;
  std::optional<Generator> generator(size_t i) const;
  // dtype, layout, device, pin_memory, requires_grad from the `i`th on.
  TensorOptions options(size_t i) const;
  // The options of a factory function: on the default device if none is given.
  TensorOptions factory_options(size_t i) const;
  // Checks the options of a factory function that fills `out`: those given must be those of `out`.
  void check_options(size_t i, const Tensor& out) const;
  template <size_t N>
  std::array<bool, N> booleans(size_t i) const {
    std::array<bool, N> out{};
    read_booleans(i, out);
    return out;
  }

 private:
  friend PyObject* call_function(const FunctionTable&, PyObject* const*, size_t, PyObject*);
  struct Refusal;
  bool bind(const FunctionTable& table, const Overload& overload, PyObject* const* arguments, size_t num_positional,
            PyObject* keywords, bool strict, Refusal* why);
  [[noreturn]] void refuse_element(size_t i, size_t element, const char* expected, PyObject* got) const;
  Dims read_integers(size_t i) const;
  void read_booleans(size_t i, std::span<bool> out) const;
  static bool truth(PyObject* object);
  Scalar number_of(PyObject* object) const;
  ScalarType widest_type() const;

  const FunctionTable* table_ = nullptr;
  const Overload* overload_ = nullptr;
  std::array<PyObject*, kMaxParameters> values_;  // borrowed; None of an optional parameter is kept as None
  nb::object gathered_;                           // `view(2, 3)`: the numbers as the tuple they stand for
};

// Arguments as for vectorcall, `self` of a method first.
PyObject* call_function(const FunctionTable& table, PyObject* const* arguments, size_t num_positional,
                        PyObject* keywords);

// ---- results

inline PyObject* to_python(Tensor tensor) { return wrap(std::move(tensor)); }
inline PyObject* to_python(bool value) { return PyBool_FromLong(value); }
inline PyObject* to_python(int64_t value) { return PyLong_FromLongLong(value); }
inline PyObject* to_python(double value) { return PyFloat_FromDouble(value); }
inline PyObject* to_python(const Scalar& value) { return wrap(value); }
PyObject* to_python(std::span<Tensor> tensors);  // a tuple
inline PyObject* to_python(std::vector<Tensor> tensors) { return to_python(std::span<Tensor>(tensors)); }
// A named tuple, if the overload's results have names, of objects that become its own; null if one is.
PyObject* to_python(const Call& call, std::span<PyObject* const> results);

// Runs `f` without the interpreter's lock and converts what it returns.
template <class F>
PyObject* answer(const Call& call, F&& f) {
  using Result = decltype(f());
  if constexpr (std::is_void_v<Result>) {
    {
      const NoGil no_gil;
      f();
    }
    return Py_NewRef(Py_None);
  } else {
    Result result = [&] {
      const NoGil no_gil;
      return f();
    }();
    if constexpr (requires { std::tuple_size<Result>::value; })
      return std::apply(
          [&](auto&... parts) {
            PyObject* const all[] = {to_python(std::move(parts))...};
            return to_python(call, all);
          },
          result);
    else
      return to_python(std::move(result));
  }
}
// Runs `f`, which writes the `i`th argument (a tensor, or a tuple of some), and returns that argument.
template <class F>
PyObject* answer_with(const Call& call, size_t i, F&& f) {
  {
    const NoGil no_gil;
    f();
  }
  return Py_NewRef(call.object(i));
}

// ---- functions as objects

// Adds `table` to `owner` (a module) as a function, or to a type as a method.
void add_function(PyObject* owner, const FunctionTable& table);
void add_method(PyTypeObject* owner, const FunctionTable& table);
void add_function_types(nb::module_& module);

// torch.return_types.max and the like, made when first returned or asked for: one for the function and the method.
PyTypeObject* result_type(const FunctionTable& table, const Overload& overload);

}  // namespace argand::python
