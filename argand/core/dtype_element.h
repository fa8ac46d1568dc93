// The C++ type of a dtype's elements, as LibTorch prints it.
#pragma once
#include "argand/core/dtype.h"

namespace argand {

const char* dtype_element_name(ScalarType t);  // "float", "c10::Half"

}  // namespace argand
