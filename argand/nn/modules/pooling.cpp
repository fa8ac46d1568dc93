#include "argand/nn/modules/pooling.h"

#include "argand/nn/functional/pooling.h"

namespace argand::nn {

namespace F = functional;

#define ARGAND_POOL(N)                                                                                             \
  void MaxPool##N##dImpl::pretty_print(std::ostream& stream) const {                                               \
    stream << "torch::nn::MaxPool" #N "d(kernel_size=" << options.kernel_size() << ", stride=" << options.stride() \
           << ", padding=" << options.padding() << ", dilation=" << options.dilation()                             \
           << ", ceil_mode=" << std::boolalpha << options.ceil_mode() << ")";                                      \
  }                                                                                                                \
  Tensor MaxPool##N##dImpl::forward(const Tensor& input) { return F::max_pool##N##d(input, options); }             \
  std::tuple<Tensor, Tensor> MaxPool##N##dImpl::forward_with_indices(const Tensor& input) {                        \
    return F::max_pool##N##d_with_indices(input, options);                                                         \
  }                                                                                                                \
  void AvgPool##N##dImpl::pretty_print(std::ostream& stream) const {                                               \
    stream << "torch::nn::AvgPool" #N "d(kernel_size=" << options.kernel_size() << ", stride=" << options.stride() \
           << ", padding=" << options.padding() << ")";                                                            \
  }                                                                                                                \
  Tensor AvgPool##N##dImpl::forward(const Tensor& input) { return F::avg_pool##N##d(input, options); }             \
  void LPPool##N##dImpl::pretty_print(std::ostream& stream) const {                                                \
    stream << "torch::nn::LPPool" #N "d(norm_type=" << options.norm_type()                                         \
           << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride()                         \
           << ", ceil_mode=" << std::boolalpha << options.ceil_mode() << ")";                                      \
  }                                                                                                                \
  Tensor LPPool##N##dImpl::forward(const Tensor& input) { return F::lp_pool##N##d(input, options); }               \
  void AdaptiveMaxPool##N##dImpl::pretty_print(std::ostream& stream) const {                                       \
    stream << "torch::nn::AdaptiveMaxPool" #N "d(output_size=" << options.output_size() << ")";                    \
  }                                                                                                                \
  Tensor AdaptiveMaxPool##N##dImpl::forward(const Tensor& input) {                                                 \
    return F::adaptive_max_pool##N##d(input, options);                                                             \
  }                                                                                                                \
  std::tuple<Tensor, Tensor> AdaptiveMaxPool##N##dImpl::forward_with_indices(const Tensor& input) {                \
    return F::adaptive_max_pool##N##d_with_indices(input, options);                                                \
  }                                                                                                                \
  void AdaptiveAvgPool##N##dImpl::pretty_print(std::ostream& stream) const {                                       \
    stream << "torch::nn::AdaptiveAvgPool" #N "d(output_size=" << options.output_size() << ")";                    \
  }                                                                                                                \
  Tensor AdaptiveAvgPool##N##dImpl::forward(const Tensor& input) { return F::adaptive_avg_pool##N##d(input, options); }
ARGAND_POOL(1)
ARGAND_POOL(2)
ARGAND_POOL(3)
#undef ARGAND_POOL

}  // namespace argand::nn
