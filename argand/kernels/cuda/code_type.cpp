#include "argand/kernels/cuda/code_type.h"

#include "argand/base/error.h"

namespace argand::cuda {

const char* code_type(ScalarType t) {
  switch (t) {
    case kByte:
      return "unsigned char";
    case kChar:
      return "signed char";
    case kShort:
      return "short";
    case kInt:
      return "int";
    case kLong:
      return "long long";
    case kHalf:
      return "argand::Half";
    case kBFloat16:
      return "argand::BFloat16";
    case kFloat:
      return "float";
    case kDouble:
      return "double";
    case kBool:
      return "bool";
    case kComplexFloat:
      return "argand::Complex<float>";
    case kComplexDouble:
      return "argand::Complex<double>";
    default:
      ARGAND_THROW(Error, "no type of device code for dtype ", t);
  }
}

}  // namespace argand::cuda
