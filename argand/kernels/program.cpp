#include "argand/kernels/program.h"

#include <algorithm>
#include <numeric>

namespace argand {

namespace {

// Often all operands are contiguous: one dimension.
bool collapse_to_one(PointwiseProgram& p) {
  int64_t n = 1;
  for (const int64_t s : p.sizes) n *= s;
  if (n <= 1) return false;
  for (const ProgramValue& v : p.values) {
    if (!v.memory) continue;
    int64_t expected = 1;
    for (size_t d = p.sizes.size(); d-- > 0;) {
      if (p.sizes[d] != 1 && v.strides[d] != expected) return false;
      expected *= p.sizes[d];
    }
  }
  for (ProgramValue& v : p.values) v.strides = v.memory ? Dims{1} : Dims{};
  p.sizes = {n};
  return true;
}

}  // namespace

void collapse(PointwiseProgram& p) {
  if (collapse_to_one(p)) return;
  const auto lead = std::find_if(p.values.begin(), p.values.end(), [](const ProgramValue& v) { return v.store; });
  const size_t ndim = p.sizes.size();
  Dims order(ndim);
  std::iota(order.begin(), order.end(), 0);
  if (lead != p.values.end()) {
    const Dims& by = lead->strides;
    // Insertion sort: stable and without allocation.
    for (size_t i = 1; i < ndim; ++i)
      for (size_t j = i; j > 0 && by[order[j - 1]] < by[order[j]]; --j) std::swap(order[j - 1], order[j]);
  }
  Dims sizes;
  std::vector<Dims> strides(p.values.size());
  for (const int64_t d : order) {
    if (p.sizes[d] == 1) continue;
    bool merges = !sizes.empty();
    for (size_t v = 0; v < p.values.size() && merges; ++v)
      merges = !p.values[v].memory || strides[v].back() == p.values[v].strides[d] * p.sizes[d];
    if (merges)
      sizes.back() *= p.sizes[d];
    else
      sizes.push_back(p.sizes[d]);
    for (size_t v = 0; v < p.values.size(); ++v) {
      if (!p.values[v].memory) continue;
      if (merges)
        strides[v].back() = p.values[v].strides[d];
      else
        strides[v].push_back(p.values[v].strides[d]);
    }
  }
  for (size_t v = 0; v < p.values.size(); ++v) p.values[v].strides = strides[v];
  p.sizes = sizes;
}

}  // namespace argand
