// Which elements a window of a pooling covers, which of them is its maximum, and what its average divides by.
#pragma once
#include <algorithm>
#include <limits>
#include <type_traits>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/multiversion.h"
#include "argand/kernels/cpu/pool.h"

namespace argand::cpu {

inline constexpr DtypeSet kPoolTypes =
    kFloatingTypes | dtype_bit(kLong) | dtype_bit(kInt) | dtype_bit(kShort) | dtype_bit(kChar) | dtype_bit(kByte);
// An average is summed in pieces of this many elements, so that the error of a long sum stays small.
inline constexpr int64_t kAveragePiece = 64;
inline constexpr DtypeSet kPositionTypes = dtype_bit(kLong) | dtype_bit(kShort);

// The position and the maximum of a dilated window that steps from the padding over the whole input.
inline constexpr int64_t kNowhere = -1;
template <class T>
constexpr T maximum_of_none() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}

// Positions [begin, end) in steps of `step` that a window covers along one dimension.
struct Range {
  int64_t begin, end, step;
};

struct FixedWindows {
  static Range of(const PoolShape& s, int d, int64_t o) {
    int64_t begin = o * s.stride[d] - s.padding[d];
    const int64_t end = std::min(begin + (s.kernel[d] - 1) * s.dilation[d] + 1, s.in[d]);
    if (begin < 0) begin += (-begin + s.dilation[d] - 1) / s.dilation[d] * s.dilation[d];
    return {begin, end, s.dilation[d]};
  }
};
struct AdaptiveWindows {
  static Range of(const PoolShape& s, int d, int64_t o) {
    return {o * s.in[d] / s.out[d], ((o + 1) * s.in[d] + s.out[d] - 1) / s.out[d], 1};
  }
};

// visit(place in the plane) for all of a window.
template <class F>
void for_each_position(const PoolShape& s, const Range& rz, const Range& ry, const Range& rx, F visit) {
  for (int64_t z = rz.begin; z < rz.end; z += rz.step)
    for (int64_t y = ry.begin; y < ry.end; y += ry.step)
      for (int64_t x = rx.begin; x < rx.end; x += rx.step) visit((z * s.in[1] + y) * s.in[2] + x);
}

// Uses the widest vector unit for types that vectors support; other types compute in another type.
template <class T, class Body, class... Args>
void run_body(Args... args) {
  if constexpr (std::is_floating_point_v<T>)
    on_vector_unit<Body>(args...);
  else
    Body::run(args...);
}

inline int64_t covered(const Range& rz, const Range& ry, const Range& rx) {
  return (rz.end - rz.begin) * (ry.end - ry.begin) * (rx.end - rx.begin);
}

// The first of equal elements wins, and the last NaN, as in PyTorch.
template <class T>
ARGAND_INLINE bool wins(T candidate, T best) {
  using A = op_math_t<T>;
  const A c = static_cast<A>(candidate);
  return static_cast<bool>((c > static_cast<A>(best)) | (c != c));  // without a branch
}

// Elements the average of a window is divided by.
template <class T>
op_math_t<T> divisor_of(const PoolShape& s, const AverageDivisor& d, const std::array<int64_t, 3>& o, int64_t covered) {
  if (d.fixed) return static_cast<op_math_t<T>>(d.fixed);
  if (!d.count_padding) return static_cast<op_math_t<T>>(covered);
  int64_t n = 1;
  for (int k = 0; k < 3; ++k) {
    const int64_t begin = o[k] * s.stride[k] - s.padding[k];
    n *= std::min(begin + s.kernel[k], s.in[k] + s.padding[k]) - begin;
  }
  return static_cast<op_math_t<T>>(n);
}

}  // namespace argand::cpu
