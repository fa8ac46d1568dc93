// Every op in each of its forms, to be called by name with values whose types are known at run time.  This is for
// fronts that have no C++ types at hand: the interpreter of TorchScript, the C interface.
//
// The table is generated from the op definitions (tools/generate/boxed.py).  A call does what the C++ function of that
// name does: checks, autocast, the graph, dispatch modes.  out= forms of functions that only make a tensor (zeros_out)
// are not here.
//
// Thread safety: as that of the ops.  The table is made at the first use and never changes.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "argand/exec/argument_value.h"
#include "argand/exec/signature.h"

namespace argand {

struct OpInfo;

namespace boxed {

// The types of the schema language.  An optional type is that type with Parameter::optional.
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
  kDevice,
  kMemoryFormat,
  kGenerator,
  kOptions,
};

struct Parameter {
  const char* name;
  // The type as in the schema, without alias annotations and with int for SymInt: "Tensor?", "int[2]", "Tensor|Scalar".
  // dtype, layout, device and pin_memory are one parameter of type "TensorOptions" with the name "options".
  std::string_view type;
  Kind kind;
  bool optional, keyword_only, has_default;
  uint8_t length;  // of an "int[2]"; 0: any
  int8_t field;    // the argument of the op that it gives; -1: a tensor to write into
};

class Call;

// One overload of one form of an op.
struct Function {
  std::string_view name;                  // "add", "add_", "add_out", "linalg_qr", "torchvision::nms"
  std::string_view overload;              // "dim", or "" if the schema names none
  std::span<const Parameter> parameters;  // in the order of the schema; the tensors of an _out form stand last
  std::span<const SignatureResult> results;
  bool writes_first;  // in place: the result is the first argument
  const OpInfo* op;

  // One value for each parameter; std::monostate stands for the default, and for None where there is no default.
  // Appends a value for each result.  Throws ValueError for a value of the wrong kind or a wrong number of values.
  void call(std::span<const ArgumentValue> arguments, std::vector<ArgumentValue>& results) const;
  // The same with values that nobody needs afterwards: tensors are moved out of them.
  void call_taking(std::span<ArgumentValue> arguments, std::vector<ArgumentValue>& results) const;
  // "add(Tensor self, Tensor|Scalar other, *, Scalar alpha=...)": for messages.
  std::string signature() const;

  // The rest is the table's own.
  void run_call(std::span<const ArgumentValue> arguments, bool may_take, std::vector<ArgumentValue>& results) const;
  int order;  // of the definitions
  bool makes_leaf, has_outs;
  void (*run)(Call& call);
};

std::span<const Function> functions();                  // all, sorted by name
std::span<const Function> find(std::string_view name);  // the overloads of a name in the order of their definitions

// Whether a value may be given for a parameter.  Numbers go where the schema has Scalar, float, bool or int (an int
// also where it has float), one int where it has a list of fixed length, an int where it has ScalarType or MemoryFormat
// (PyTorch's numbers of them), a string where it has Device, a Tensor or a number where it has "Tensor|Scalar", an
// empty list for any list.
bool takes(const Parameter& parameter, const ArgumentValue& value);

// What a message calls the kind of a value: "int", "Tensor", "list of ints".
const char* kind_name(const ArgumentValue& value);

// The dtype that a ScalarType, or PyTorch's number of one, stands for.  REQUIRES that takes() accepts the value.
ScalarType to_dtype(const ArgumentValue& value);

using Named = std::pair<std::string_view, ArgumentValue>;

// Calls the first overload of `name` that takes these arguments.  dtype, layout, device and pin_memory may be given by
// their own names.
// Throws ValueError if there is no such op, and with all signatures if no overload takes the arguments.
std::vector<ArgumentValue> call(std::string_view name, std::span<const ArgumentValue> positional,
                                std::span<const Named> named = {});

}  // namespace boxed
}  // namespace argand
