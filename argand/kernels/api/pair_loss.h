// Losses that compare two tensors element by element, summed without a tensor of their terms.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

enum class PairLossKind : int8_t {
  kSquare,    // d^2 with d = x - y
  kAbs,       // |d|
  kSmoothL1,  // d^2 / (2 beta) where |d| < beta, else |d| - beta / 2
  kHuber,     // d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2)
};

struct PairLossCall {
  PairLossKind kind;
  ScalarType type;  // of x, y and the results: any floating one; float16 and bfloat16 compute in float32
  const void *x, *y;
  int64_t n;             // contiguous elements
  double parameter = 0;  // beta, delta
};

// out[i] = loss(x[i], y[i]), or its first or second derivative by x times `scale` times grad (grad[i], grad[0] if
// grad_stride is 0, or 1 if it is null).
using RunPairLoss = void(const PairLossCall& call, void* out);
using RunPairLossDerivative = void(const PairLossCall& call, int order, const void* grad, int64_t grad_stride,
                                   double scale, void* out);

// The sum or the mean of the losses, added in the arithmetic type: one element of `type`.
using RunPairLossSum = void(const PairLossCall& call, bool mean, void* out);

}  // namespace argand
