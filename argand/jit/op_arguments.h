// Conversion between the values of a program and the arguments and results of ops.
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "argand/autograd/ivalue.h"
#include "argand/exec/argument_value.h"

namespace argand::jit {

// The type of a parameter as a schema writes it: "Tensor?", "int[2]?", "Tensor|Scalar".
struct ParameterType {
  enum class Base : uint8_t {
    kTensor,
    kTensorOrScalar,
    kScalar,
    kInt,
    kFloat,
    kBool,
    kStr,
    kDtype,
    kLayout,
    kMemoryFormat,
    kDevice,
    kGenerator,
    kOptions,
    kOther
  };
  Base base = Base::kOther;
  bool list = false, optional = false, optional_elements = false;
  size_t list_size = 0;  // of a list that one number may stand for; else 0

  explicit ParameterType(std::string_view text);
};

bool accepts(const ParameterType& type, const IValue& value);
// REQUIRES accepts(type, value).
ArgumentValue to_argument(const ParameterType& type, const IValue& value);
IValue from_result(ArgumentValue&& result);

}  // namespace argand::jit
