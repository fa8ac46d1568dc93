#include "argand/kernels/cpu/reduce.h"

#include <algorithm>

#include "argand/core/dispatch.h"
#include "argand/core/shape.h"

namespace argand::cpu {
namespace {

template <class T>
struct Accumulator {
  using type = T;
};
template <>
struct Accumulator<float> {
  using type = double;
};
template <>
struct Accumulator<Half> {
  using type = double;
};
template <>
struct Accumulator<BFloat16> {
  using type = double;
};
template <>
struct Accumulator<bool> {
  using type = int64_t;
};

template <class T, class Acc>
void add_strided(const T* in, const Dims& sizes, const Dims& strides, size_t d, Acc& total) {
  if (d == sizes.size()) {
    total += static_cast<Acc>(*in);
    return;
  }
  for (int64_t i = 0; i < sizes[d]; ++i) add_strided(in + i * strides[d], sizes, strides, d + 1, total);
}

}  // namespace

void sum(const void* in, IntArrayRef sizes, IntArrayRef strides, IntArrayRef dims, void* out, ScalarType dtype) {
  Dims kept, kept_strides, reduced, reduced_strides;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const bool r = std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) != dims.end();
    (r ? reduced : kept).push_back(sizes[d]);
    (r ? reduced_strides : kept_strides).push_back(strides[d]);
  }
  dispatch<kAllTypes>(dtype, "sum", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Acc = typename Accumulator<T>::type;
    const int64_t n = numel_of(kept);
    for (int64_t i = 0; i < n; ++i) {
      int64_t rest = i, offset = 0;
      for (size_t d = kept.size(); d-- > 0;) {
        offset += rest % kept[d] * kept_strides[d];
        rest /= kept[d];
      }
      Acc total{};
      add_strided(static_cast<const T*>(in) + offset, reduced, reduced_strides, 0, total);
      static_cast<T*>(out)[i] = static_cast<T>(static_cast<op_math_t<T>>(total));
    }
  });
}

}  // namespace argand::cpu
