#include "argand/nn/modules/batchnorm.h"

#include "argand/nn/functional/batchnorm.h"
#include "argand/nn/modules/norm_base.h"

namespace argand::nn {

template <size_t D, class Derived>
void BatchNormImplBase<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::BatchNorm" << D << "d";
  this->print_options(stream);
}

template <size_t D, class Derived>
Tensor BatchNormImplBase<D, Derived>::forward(const Tensor& input) {
  constexpr auto kSpatial = static_cast<int64_t>(D);
  this->check_dim(input, D == 1 ? 2 : kSpatial + 2, kSpatial + 2);
  const auto& o = this->options;
  double momentum = o.momentum().value_or(0);
  if (this->is_training() && this->num_batches_tracked.defined()) {
    this->num_batches_tracked.add_(1);
    if (!o.momentum()) momentum = 1 / this->num_batches_tracked.item().toDouble();
  }
  return functional::batch_norm(input, this->running_mean, this->running_var,
                                functional::BatchNormFuncOptions()
                                    .weight(this->weight)
                                    .bias(this->bias)
                                    .training(this->is_training() || !o.track_running_stats())
                                    .momentum(momentum)
                                    .eps(o.eps()));
}

#define ARGAND_BATCH_NORM(N)                                          \
  template class NormImplBase<BatchNorm##N##dImpl, BatchNormOptions>; \
  template class BatchNormImplBase<N, BatchNorm##N##dImpl>;
ARGAND_BATCH_NORM(1)
ARGAND_BATCH_NORM(2)
ARGAND_BATCH_NORM(3)
#undef ARGAND_BATCH_NORM

}  // namespace argand::nn
