#include "argand/nn/functional/pooling.h"

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn::functional {
namespace {

// A size that was left open stays as it is in the input.
template <size_t D>
Dims closed_sizes(const Tensor& input, const ExpandingArrayWithOptionalElem<D>& sizes) {
  ARGAND_CHECK(ShapeError, input.dim() >= static_cast<int64_t>(D), "adaptive pooling: expected at least ", D,
               " dimensions, got ", input.sizes());
  Dims out;
  for (size_t i = 0; i < D; ++i)
    out.push_back(sizes[i] ? *sizes[i] : input.size(input.dim() - static_cast<int64_t>(D - i)));
  return out;
}
// harmless: the sizes are all given
Dims closed_sizes(const Tensor&, const ExpandingArray<1>& size) { return Dims(IntArrayRef(size)); }

// (sum over the window of x^p)^(1/p), from the mean that avg_pool gives.
Tensor root_of_mean(const Tensor& mean, double p, int64_t window) {
  return (mean.sign() * mean.abs().relu()).mul(window).pow(1 / p);
}

}  // namespace

Tensor avg_pool1d(const Tensor& x, const AvgPool1dFuncOptions& o) {
  return argand::avg_pool1d(x, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), o.count_include_pad());
}
Tensor avg_pool2d(const Tensor& x, const AvgPool2dFuncOptions& o) {
  return argand::avg_pool2d(x, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), o.count_include_pad(),
                            o.divisor_override());
}
Tensor avg_pool3d(const Tensor& x, const AvgPool3dFuncOptions& o) {
  return argand::avg_pool3d(x, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), o.count_include_pad(),
                            o.divisor_override());
}

#define ARGAND_POOL(N)                                                                                          \
  Tensor max_pool##N##d(const Tensor& x, const MaxPool##N##dFuncOptions& o) {                                   \
    return argand::max_pool##N##d(x, o.kernel_size(), o.stride(), o.padding(), o.dilation(), o.ceil_mode());    \
  }                                                                                                             \
  std::tuple<Tensor, Tensor> max_pool##N##d_with_indices(const Tensor& x, const MaxPool##N##dFuncOptions& o) {  \
    return argand::max_pool##N##d_with_indices(x, o.kernel_size(), o.stride(), o.padding(), o.dilation(),       \
                                               o.ceil_mode());                                                  \
  }                                                                                                             \
  Tensor lp_pool##N##d(const Tensor& x, const LPPool##N##dFuncOptions& o) {                                     \
    int64_t window = 1;                                                                                         \
    for (const int64_t k : o.kernel_size()) window *= k;                                                        \
    const auto average = AvgPool##N##dFuncOptions(o.kernel_size()).stride(o.stride()).ceil_mode(o.ceil_mode()); \
    return root_of_mean(functional::avg_pool##N##d(x.pow(o.norm_type()), average), o.norm_type(), window);      \
  }                                                                                                             \
  Tensor adaptive_avg_pool##N##d(const Tensor& x, const AdaptiveAvgPool##N##dFuncOptions& o) {                  \
    return argand::adaptive_avg_pool##N##d(x, closed_sizes(x, o.output_size()));                                \
  }                                                                                                             \
  std::tuple<Tensor, Tensor> adaptive_max_pool##N##d_with_indices(const Tensor& x,                              \
                                                                  const AdaptiveMaxPool##N##dFuncOptions& o) {  \
    return argand::adaptive_max_pool##N##d(x, closed_sizes(x, o.output_size()));                                \
  }                                                                                                             \
  Tensor adaptive_max_pool##N##d(const Tensor& x, const AdaptiveMaxPool##N##dFuncOptions& o) {                  \
    return std::get<0>(functional::adaptive_max_pool##N##d_with_indices(x, o));                                 \
  }
ARGAND_POOL(1)
ARGAND_POOL(2)
ARGAND_POOL(3)
#undef ARGAND_POOL

}  // namespace argand::nn::functional
