// Running results along the middle dimension of contiguous [outer, n, inner] tensors.
//
// Every line is processed from its first element to its last, so the order of operations does not depend on the number
// of threads; lines are distributed over threads, and neighbouring ones are processed together as vectors. float32
// accumulates in float64 and complex64 in complex128; each result is rounded once.  Integers wrap.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

struct ScanShape {
  int64_t outer, n, inner;
};

enum class ScanKind : int8_t {
  kSum,   // float, double, int64, complex
  kProd,  // float, double, int64, complex
  // log(sum(e^x)); float, double, complex.  For complex numbers the imaginary part is that of the element with the
  // larger real part (the later of equal ones) plus the angle that the other adds, so it may be outside (-pi, pi].
  kLogSumExp,
};
// out[k] = in[0] (+) ... (+) in[k].
using RunScan = void(ScanKind kind, const void* in, void* out, ScalarType type, const ScanShape& shape);

// out[k] = in[k] + factor[k] * out[k - 1], or out[k + 1] if `reverse`; what lies outside counts as 0.
// float, double, complex.
using RunScanLinear = void(const void* in, const void* factor, void* out, ScalarType type, bool reverse,
                           const ScanShape& shape);

// The largest (smallest) element so far and its index: the last of equal ones, the last NaN if there is one.
// Any real type.
using RunScanExtreme = void(bool largest, const void* in, void* values, int64_t* indices, ScalarType type,
                            const ScanShape& shape);

}  // namespace argand
