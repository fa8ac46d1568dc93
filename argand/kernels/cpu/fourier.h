// Discrete Fourier transforms along one dimension of contiguous tensors, of float32 and float64.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand::cpu {

// Lines of n numbers (n counts the real numbers, if one side is real), `inner` elements apart; the results are
// multiplied by `scale`.  forward: exp(-2 pi i j k / n), otherwise its inverse.
struct FourierShape {
  int64_t outer, n, inner;
  bool forward;
  double scale;
};

// `real` is kFloat or kDouble.  Complex to complex; `to` may be `from`.
void fourier_complex(ScalarType real, const FourierShape& shape, const void* from, void* to);
// Real numbers to the first n / 2 + 1 results, or to all with `whole`; always forward.
void fourier_from_real(ScalarType real, const FourierShape& shape, bool whole, const void* from, void* to);
// n / 2 + 1 complex numbers, which represent n of Hermitian symmetry, to real ones: always the inverse.  Imaginary
// parts of elements that are their own mirror image are ignored.
void fourier_to_real(ScalarType real, const FourierShape& shape, const void* from, void* to);

}  // namespace argand::cpu
