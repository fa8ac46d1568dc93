#include "argand/kernels/cpu/transpose.h"

#include <algorithm>

#include "argand/kernels/cpu/gemm_simd.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

constexpr int64_t kColumns = 64;          // rows of `to` that a task writes at a time
constexpr int64_t kTaskElements = 16384;  // enough to be worth handing over

int dense_dimension(IntArrayRef sizes, IntArrayRef strides) {
  for (int d = static_cast<int>(sizes.size()) - 1; d >= 0; --d)
    if (strides[d] == 1 && sizes[d] > 1) return d;
  return -1;
}

// Only moves: T is any type of the size of the elements.
template <class T>
bool copy_as(IntArrayRef sizes, const T* from, IntArrayRef from_strides, T* to, IntArrayRef to_strides) {
  const auto& kernels = detail::gemm_kernels<T>(vector_unit());
  const int in = dense_dimension(sizes, from_strides), out = dense_dimension(sizes, to_strides);
  if (in < 0 || out < 0 || in == out || std::min(sizes[in], sizes[out]) < kernels.lanes / 2) return false;
  int64_t outer = 1;
  for (int d = 0; d < static_cast<int>(sizes.size()); ++d)
    if (d != in && d != out) outer *= sizes[d];
  const int64_t pieces = (sizes[in] + kColumns - 1) / kColumns;
  const int64_t grain = std::max<int64_t>(1, kTaskElements / (kColumns * sizes[out]));
  parallel_for(0, outer * pieces, grain, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task % pieces * kColumns, count = std::min(kColumns, sizes[in] - first);
      int64_t rest = task / pieces, source = first, target = first * to_strides[in];
      for (int d = static_cast<int>(sizes.size()) - 1; d >= 0; --d) {
        if (d == in || d == out) continue;
        source += rest % sizes[d] * from_strides[d];
        target += rest % sizes[d] * to_strides[d];
        rest /= sizes[d];
      }
      kernels.turn({from + source, from_strides[out], 1, sizes[out], count}, to + target, to_strides[in]);
    }
  });
  return true;
}

}  // namespace

bool copy_transposed(IntArrayRef sizes, int64_t item_size, const void* from, IntArrayRef from_strides, void* to,
                     IntArrayRef to_strides) {
  if (item_size == 4)
    return copy_as(sizes, static_cast<const float*>(from), from_strides, static_cast<float*>(to), to_strides);
  if (item_size == 8)
    return copy_as(sizes, static_cast<const double*>(from), from_strides, static_cast<double*>(to), to_strides);
  return false;
}

}  // namespace argand::cpu
