#include "argand/nn/modules/instancenorm.h"

#include "argand/nn/functional/instancenorm.h"
#include "argand/nn/modules/norm_base.h"

namespace argand::nn {

template <size_t D, class Derived>
void InstanceNormImplBase<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::InstanceNorm" << D << "d";
  this->print_options(stream);
}

template <size_t D, class Derived>
Tensor InstanceNormImplBase<D, Derived>::forward(const Tensor& input) {
  constexpr auto kSpatial = static_cast<int64_t>(D);
  this->check_dim(input, kSpatial + 1, kSpatial + 2);
  if (input.dim() == kSpatial + 1) return forward(input.unsqueeze(0)).squeeze(0);
  const auto& o = this->options;
  return functional::instance_norm(input, functional::InstanceNormFuncOptions()
                                              .running_mean(this->running_mean)
                                              .running_var(this->running_var)
                                              .weight(this->weight)
                                              .bias(this->bias)
                                              .use_input_stats(this->is_training() || !o.track_running_stats())
                                              .momentum(o.momentum())
                                              .eps(o.eps()));
}

#define ARGAND_INSTANCE_NORM(N)                                             \
  template class NormImplBase<InstanceNorm##N##dImpl, InstanceNormOptions>; \
  template class InstanceNormImplBase<N, InstanceNorm##N##dImpl>;
ARGAND_INSTANCE_NORM(1)
ARGAND_INSTANCE_NORM(2)
ARGAND_INSTANCE_NORM(3)
#undef ARGAND_INSTANCE_NORM

}  // namespace argand::nn
