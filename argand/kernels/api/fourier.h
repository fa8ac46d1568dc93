// Discrete Fourier transforms along any dimensions of dense tensors: blocks::fourier, a block of kernels/blocks.h.
#pragma once
#include "argand/base/small_vector.h"
#include "argand/core/dtype.h"

namespace argand {

enum class FourierKind {
  kComplex,     // complex numbers to complex ones
  kRealToHalf,  // real numbers to the first n / 2 + 1 results of the last of `dims`, of which the others are mirrored
  kRealToAll,   // the same with all n
  kHalfToReal,  // the inverse of kRealToHalf; imaginary parts of what mirrors itself are ignored
};

struct FourierCall {
  FourierKind kind;
  ScalarType real;    // of real numbers, and of the parts of complex ones: float or double
  IntArrayRef sizes;  // of the side that is real; both sides are contiguous
  IntArrayRef dims;   // each once; one at least unless the kind is kComplex; sizes[d] > 0
  bool forward;       // exp(-2 pi i j k / n), otherwise its conjugate: only kHalfToReal is never forward, from real
                      // numbers always
  double scale;       // of the results
  const void* from;
  void* to;  // with kComplex it may be `from`
};
using RunFourier = void(const FourierCall& call);

// A device keeps the plans that it has made for transforms, to use them again for the same sizes.  This says how many,
// and bounds them.  Thread-safe.
class FourierPlans {
 public:
  virtual ~FourierPlans() = default;
  virtual int64_t size() = 0;
  virtual int64_t max_size() = 0;
  virtual void set_max_size(int64_t n) = 0;  // not negative
  virtual void clear() = 0;
};
using GetFourierPlans = FourierPlans&();  // of the current device

}  // namespace argand
