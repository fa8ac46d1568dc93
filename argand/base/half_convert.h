// Arrays of Half and BFloat16 to and from float: the same bits as converting each element, with vector instructions
// where the machine has them.  Source and destination must not overlap.  n >= 0.
#pragma once
#include <cstdint>

#include "argand/base/bfloat16.h"
#include "argand/base/half.h"

namespace argand {

void convert(const Half* in, float* out, int64_t n);
void convert(const float* in, Half* out, int64_t n);
void convert(const BFloat16* in, float* out, int64_t n);
void convert(const float* in, BFloat16* out, int64_t n);

}  // namespace argand
