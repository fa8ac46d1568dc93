// PyTorch's numbers for dtypes and memory formats, as TorchScript's code uses them; errors for others.
#pragma once
#include "argand/base/error.h"
#include "argand/core/dtype_number.h"

namespace argand::jit {

inline int64_t number_of(ScalarType dtype) {
  const int64_t number = argand::pytorch_number(dtype);
  ARGAND_CHECK(DtypeError, number >= 0, "a dtype without a number in TorchScript");
  return number;
}
inline ScalarType dtype_of_number(int64_t number) {
  const std::optional<ScalarType> dtype = argand::dtype_of_pytorch_number(number);
  ARGAND_CHECK(DtypeError, dtype, "TorchScript's dtype of number ", number, " is not supported");
  return *dtype;
}
inline MemoryFormat memory_format_of_number(int64_t number) {
  const std::optional<MemoryFormat> format = argand::memory_format_of_pytorch_number(number);
  ARGAND_CHECK(ValueError, format, "TorchScript's memory format of number ", number, " does not exist");
  return *format;
}

}  // namespace argand::jit
