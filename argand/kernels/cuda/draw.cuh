// Samples of distributions.  Thread i draws from stream i and fills elements i, i + threads, ..., as in PyTorch: seed,
// offset and grid determine each element's number.
#pragma once
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/philox.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// The type samples are computed in.
template <class T>
struct DrawMath {
  using type = float;
};
template <>
struct DrawMath<double> {
  using type = double;
};
template <class T>
using draw_math_t = typename DrawMath<T>::type;

// (0, 1]
__device__ __forceinline__ float fraction(unsigned x) { return x * 0x1p-32f + 0x1p-33f; }
__device__ __forceinline__ double fraction(unsigned x, unsigned y) {
  return (x ^ static_cast<uint64_t>(y) << 21) * 0x1p-53 + 0x1p-54;
}

// The samples of type M from one round of Philox: four floats or two doubles.
template <class M>
struct Samples {
  static constexpr int kCount = 4;
  float x[4];
  __device__ __forceinline__ static Samples fractions(uint4 r) {
    return {{fraction(r.x), fraction(r.y), fraction(r.z), fraction(r.w)}};
  }
  // The method of Box and Muller (1958).
  __device__ __forceinline__ static Samples normals(uint4 r) {
    Samples s;
    const unsigned bits[4] = {r.x, r.y, r.z, r.w};
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      constexpr float kStep = 0x1p-32f * (2 * math::kPi<float>);
      const float radius = math::sqrt(-2.0f * math::log(fraction(bits[i])));
      float sine, cosine;
      ::sincosf(bits[i + 1] * kStep + kStep / 2, &sine, &cosine);
      s.x[i] = sine * radius;
      s.x[i + 1] = cosine * radius;
    }
    return s;
  }
};
template <>
struct Samples<double> {
  static constexpr int kCount = 2;
  double x[2];
  __device__ __forceinline__ static Samples fractions(uint4 r) { return {{fraction(r.x, r.y), fraction(r.z, r.w)}}; }
  __device__ __forceinline__ static Samples normals(uint4 r) {
    const double radius = math::sqrt(-2.0 * math::log(fraction(r.x, r.y)));
    double sine, cosine;
    ::sincospi(2 * fraction(r.z, r.w), &sine, &cosine);
    return {{sine * radius, cosine * radius}};
  }
};

// As in kernels/api/draw.h.
enum { kUniform, kNormal, kIntegers, kBernoulli, kExponential, kGeometric, kCauchy, kLogNormal };

// From a fraction, or for normal kinds from a normal sample.
template <class T, int kKind, class M>
__device__ __forceinline__ T sample(M x, const DrawNumbers& d, const M* chances, int64_t at) {
  const M a = static_cast<M>(d.a), b = static_cast<M>(d.b);
  constexpr M kTiny = sizeof(M) == 8 ? M(0x1p-53) : M(0x1p-24);  // half the distance from 1 to the next number
  if constexpr (kKind == kUniform) {
    // From (0, 1] to [0, 1): and no rounding up to b either.
    const M unit = x == M(1) ? M(0) : x;
    const T value = convert<T>(unit * (b - a) + a);
    return convert<M>(value) == b ? convert<T>(a) : value;
  } else if constexpr (kKind == kNormal) {
    return convert<T>(x * b + a);
  } else if constexpr (kKind == kBernoulli) {
    return convert<T>(x <= (chances ? chances[at] : a) ? M(1) : M(0));
  } else if constexpr (kKind == kExponential) {
    const M log = x >= M(1) - kTiny ? -kTiny : math::log(x);
    return convert<T>(M(-1) / a * log);
  } else if constexpr (kKind == kGeometric) {
    const M trials = math::ceil(math::log(x) / math::log1p(-a));
    return convert<T>(trials < M(1) ? M(1) : trials);
  } else if constexpr (kKind == kCauchy) {
    return convert<T>(a + b * math::tan(math::kPi<M> * (x - M(0.5))));
  } else {
    return convert<T>(math::exp(x * b + a));
  }
}

template <class T, int kKind>
__global__ void draw(T* out, int64_t n, PhiloxNumbers numbers, DrawNumbers d, const draw_math_t<T>* chances) {
  await_earlier_work();
  using S = Samples<draw_math_t<T>>;
  const int64_t threads = int64_t{gridDim.x} * blockDim.x, thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  Philox philox(numbers, uint64_t(thread));
  for (int64_t first = thread; first < n; first += threads * S::kCount) {
    const uint4 bits = philox.next();
    const S s = kKind == kNormal || kKind == kLogNormal ? S::normals(bits) : S::fractions(bits);
#pragma unroll
    for (int i = 0; i < S::kCount; ++i) {
      const int64_t at = first + i * threads;
      if (at < n) out[at] = sample<T, kKind>(s.x[i], d, chances, at);
    }
  }
}

// A thread fills 16 neighbours from two rounds: half a number each.
__global__ void draw_mask(bool* out, int64_t n, PhiloxNumbers numbers, unsigned drop_below) {
  await_earlier_work();
  const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x, first = thread * 16;
  if (first >= n) return;
  Philox philox(numbers, uint64_t(thread));
  Vec<bool, 16> kept;
#pragma unroll
  for (int round = 0; round < 2; ++round) {
    const uint4 r = philox.next();
    const unsigned bits[4] = {r.x, r.y, r.z, r.w};
#pragma unroll
    for (int i = 0; i < 8; ++i) kept[round * 8 + i] = (bits[i / 2] >> i % 2 * 16 & 0xffff) >= drop_below;
  }
  store(out, first, n, kept);
}

__global__ void keep_numbers(PhiloxNumbers numbers, unsigned long long* state) {
  await_earlier_work();
  numbers.keep(state);
}

template <class T, bool kWide>
__global__ void draw_integers(T* out, int64_t n, PhiloxNumbers numbers, DrawNumbers d) {
  await_earlier_work();
  constexpr int kCount = kWide ? 2 : 4;
  const int64_t threads = int64_t{gridDim.x} * blockDim.x, thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  Philox philox(numbers, uint64_t(thread));
  for (int64_t first = thread; first < n; first += threads * kCount) {
    const uint4 r = philox.next();
    const unsigned bits[4] = {r.x, r.y, r.z, r.w};
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int64_t at = first + i * threads;
      uint64_t x = 0;
      if constexpr (kWide) {
        x = static_cast<uint64_t>(bits[2 * i]) << 32 | bits[2 * i + 1];
        if (d.range != 0) x %= d.range;
      } else {
        x = bits[i] % static_cast<unsigned>(d.range);
      }
      if (at < n) out[at] = convert<T>(static_cast<int64_t>(x + static_cast<uint64_t>(d.from)));
    }
  }
}

}  // namespace argand
