#include "argand/kernels/program.h"

#include <algorithm>
#include <numeric>

namespace argand {

void collapse(PointwiseProgram& p) {
  const auto lead = std::find_if(p.values.begin(), p.values.end(), [](const ProgramValue& v) { return v.store; });
  const size_t ndim = p.sizes.size();
  Dims order(ndim);
  std::iota(order.begin(), order.end(), 0);
  if (lead != p.values.end()) {
    const Dims& by = lead->strides;
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return by[a] > by[b]; });
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
