// Samples of gamma, Poisson and binomial distributions: each element takes as many draws as it needs.
#pragma once
#include "argand/kernels/cuda/philox.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/kernels/rejection.h"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// The draws of element i: stream i of Philox for the numbers that the call reserved, then a stream that no other call
// or element uses.
class ElementSource {
 public:
  __device__ __forceinline__ ElementSource(const PhiloxNumbers& numbers, uint64_t element)
      : numbers_(numbers), element_(element), philox_(numbers, element) {}

  __device__ __forceinline__ double fraction() {
    if (used_ % 2 == 0) bits_ = next();
    const bool first = used_++ % 2 == 0;
    const uint64_t x = static_cast<uint64_t>(first ? bits_.x : bits_.z) << 32 | (first ? bits_.y : bits_.w);
    return static_cast<double>(x >> 11) * 0x1p-53;
  }
  // Box and Muller (1958).
  __device__ __forceinline__ double normal() {
    const double radius = ::sqrt(-2 * ::log(1 - fraction()));
    return radius * ::cospi(2 * fraction());
  }

 private:
  __device__ __forceinline__ uint4 next() {
    constexpr int kRounds = kNumbersOfRejection / 4;
    if (rounds_++ == kRounds) {
      // Calls begin kRounds rounds apart or more: 2^20 times as many are theirs there.
      const uint64_t begin = (numbers_.offset + (numbers_.state ? numbers_.state[1] : 0)) / 4;
      philox_ =
          Philox({numbers_.state ? numbers_.state[0] : numbers_.seed, begin << 22, nullptr}, element_ | 1ull << 63);
    }
    return philox_.next();
  }

 public:
  static constexpr int kNumbersOfRejection = 64;  // as in kernels/api/draw.h

 private:
  const PhiloxNumbers numbers_;
  const uint64_t element_;
  Philox philox_;
  uint4 bits_;
  int used_ = 0, rounds_ = 0;
};

enum { kGamma, kPoisson, kBinomial };

// Draws out[i] with the parameter a[i], and b[i] for kBinomial; no gamma sample is below `least`.
template <class T, int kKind>
__global__ void draw_by_rejection(T* out, int64_t n, PhiloxNumbers numbers, const double* a, const double* b,
                                  double least) {
  await_earlier_work();
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ElementSource source(numbers, uint64_t(i));
  double x;
  if constexpr (kKind == kGamma) {
    x = gamma_sample(source, a[i]);
    if (x < least) x = least;
  } else if constexpr (kKind == kPoisson) {
    x = poisson_sample(source, a[i]);
  } else {
    x = binomial_sample(source, a[i], b[i]);
  }
  out[i] = convert<T>(x);
}

}  // namespace argand
