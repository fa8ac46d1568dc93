// Instance normalisation: each channel of each sample on its own.
#pragma once
#include "argand/nn/modules/batchnorm.h"
#include "argand/nn/options/instancenorm.h"

namespace argand::nn {

// Normalises with the statistics of the input, in eval() with the running ones if they are tracked.
template <size_t D, class Derived>
class InstanceNormImplBase : public NormImplBase<Derived, InstanceNormOptions> {
 public:
  explicit InstanceNormImplBase(int64_t num_features) : InstanceNormImplBase(InstanceNormOptions(num_features)) {}
  explicit InstanceNormImplBase(const InstanceNormOptions& options)
      : NormImplBase<Derived, InstanceNormOptions>(options) {}
  void pretty_print(std::ostream& stream) const override;
  // [N, C, spatial] or [C, spatial].
  Tensor forward(const Tensor& input);
};

#define ARGAND_INSTANCE_NORM(N)                                                           \
  class InstanceNorm##N##dImpl : public InstanceNormImplBase<N, InstanceNorm##N##dImpl> { \
   public:                                                                                \
    using InstanceNormImplBase::InstanceNormImplBase;                                     \
  };                                                                                      \
  ARGAND_LIBRARY_MODULE(InstanceNorm##N##d);                                              \
  extern template class NormImplBase<InstanceNorm##N##dImpl, InstanceNormOptions>;        \
  extern template class InstanceNormImplBase<N, InstanceNorm##N##dImpl>
ARGAND_INSTANCE_NORM(1);
ARGAND_INSTANCE_NORM(2);
ARGAND_INSTANCE_NORM(3);
#undef ARGAND_INSTANCE_NORM

}  // namespace argand::nn
