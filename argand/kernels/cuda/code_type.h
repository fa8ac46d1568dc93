// The names of element types in device code.
#pragma once
#include "argand/core/dtype.h"

namespace argand::cuda {

// "float", "argand::Half", "long long", "argand::Complex<float>".
const char* code_type(ScalarType t);

}  // namespace argand::cuda
