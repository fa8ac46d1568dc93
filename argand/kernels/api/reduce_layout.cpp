#include <algorithm>
#include <cstdlib>

#include "argand/kernels/api/reduce.h"

namespace argand {
namespace {

using DimList = SmallVector<ReduceLayout::Dim, 5>;

// Widest first; stable, and without the buffer that std::stable_sort allocates.
void sort_by_stride(DimList& dims) {
  for (size_t i = 1; i < dims.size(); ++i)
    for (size_t j = i; j > 0 && std::abs(dims[j - 1].stride) < std::abs(dims[j].stride); --j)
      std::swap(dims[j - 1], dims[j]);
}

// Merges neighbours, outermost first, that one stride can walk.
void merge(DimList& dims) {
  size_t n = 0;
  for (const ReduceLayout::Dim& d : dims) {
    if (n > 0 && dims[n - 1].stride == d.stride * d.size && dims[n - 1].out_stride == d.out_stride * d.size) {
      dims[n - 1] = {dims[n - 1].size * d.size, d.stride, d.out_stride};
    } else {
      dims[n++] = d;
    }
  }
  dims.resize(n);
}

}  // namespace

ReduceLayout::ReduceLayout(IntArrayRef sizes, IntArrayRef strides, IntArrayRef dims) {
  uint64_t mask = 0;
  for (const int64_t d : dims) mask |= uint64_t{1} << d;
  int64_t out_stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    const bool is_reduced = (mask >> d & 1) != 0;
    (is_reduced ? reduced_numel : kept_numel) *= sizes[d];
    if (sizes[d] == 1) continue;
    if (is_reduced) {
      reduced.push_back({sizes[d], strides[d], 0});
    } else {
      kept.push_back({sizes[d], strides[d], out_stride});
      out_stride *= sizes[d];
    }
  }
  std::reverse(reduced.begin(), reduced.end());
  std::reverse(kept.begin(), kept.end());
  sort_by_stride(reduced);
  merge(reduced);
  merge(kept);
  if (kept.empty()) return;
  // Broadcast dimensions are the worst to walk along: they have no neighbours in memory.
  const auto cost = [](const Dim& d) { return d.stride == 0 ? INT64_MAX : std::abs(d.stride); };
  const auto nearest =
      std::min_element(kept.begin(), kept.end(), [&](const Dim& a, const Dim& b) { return cost(a) < cost(b); });
  by_columns = reduced.empty() || cost(*nearest) < cost(reduced.back());
  if (by_columns) std::rotate(nearest, nearest + 1, kept.end());
}

}  // namespace argand
