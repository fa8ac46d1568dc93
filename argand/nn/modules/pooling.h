// Pooling of one to three dimensions, by maximum, mean or p-norm, and adaptive: to a given output size.
#pragma once
#include <tuple>

#include "argand/nn/options/pooling.h"
#include "argand/nn/pimpl.h"

namespace argand::nn {

// The common base of all poolings; inputs and outputs are [N, C, spatial] or [C, spatial].
#define ARGAND_POOL_COMMON(Name)                                            \
  explicit Name##Impl(const Name##Options& options_) : options(options_) {} \
  void reset() override {}                                                  \
  void pretty_print(std::ostream& stream) const override;                   \
  Tensor forward(const Tensor& input);                                      \
  Name##Options options

#define ARGAND_POOL(N, AdaptiveSizes)                                                                          \
  class MaxPool##N##dImpl : public Cloneable<MaxPool##N##dImpl> {                                              \
   public:                                                                                                     \
    MaxPool##N##dImpl(ExpandingArray<N> kernel_size) : MaxPool##N##dImpl(MaxPool##N##dOptions(kernel_size)) {} \
    ARGAND_POOL_COMMON(MaxPool##N##d);                                                                         \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);                                      \
  };                                                                                                           \
  ARGAND_LIBRARY_MODULE(MaxPool##N##d);                                                                        \
  class AvgPool##N##dImpl : public Cloneable<AvgPool##N##dImpl> {                                              \
   public:                                                                                                     \
    AvgPool##N##dImpl(ExpandingArray<N> kernel_size) : AvgPool##N##dImpl(AvgPool##N##dOptions(kernel_size)) {} \
    ARGAND_POOL_COMMON(AvgPool##N##d);                                                                         \
  };                                                                                                           \
  ARGAND_LIBRARY_MODULE(AvgPool##N##d);                                                                        \
  class LPPool##N##dImpl : public Cloneable<LPPool##N##dImpl> {                                                \
   public:                                                                                                     \
    LPPool##N##dImpl(double norm_type, ExpandingArray<N> kernel_size)                                          \
        : LPPool##N##dImpl(LPPool##N##dOptions(norm_type, kernel_size)) {}                                     \
    ARGAND_POOL_COMMON(LPPool##N##d);                                                                          \
  };                                                                                                           \
  ARGAND_LIBRARY_MODULE(LPPool##N##d);                                                                         \
  class AdaptiveMaxPool##N##dImpl : public Cloneable<AdaptiveMaxPool##N##dImpl> {                              \
   public:                                                                                                     \
    AdaptiveMaxPool##N##dImpl(AdaptiveSizes output_size)                                                       \
        : AdaptiveMaxPool##N##dImpl(AdaptiveMaxPool##N##dOptions(output_size)) {}                              \
    ARGAND_POOL_COMMON(AdaptiveMaxPool##N##d);                                                                 \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);                                      \
  };                                                                                                           \
  ARGAND_LIBRARY_MODULE(AdaptiveMaxPool##N##d);                                                                \
  class AdaptiveAvgPool##N##dImpl : public Cloneable<AdaptiveAvgPool##N##dImpl> {                              \
   public:                                                                                                     \
    AdaptiveAvgPool##N##dImpl(AdaptiveSizes output_size)                                                       \
        : AdaptiveAvgPool##N##dImpl(AdaptiveAvgPool##N##dOptions(output_size)) {}                              \
    ARGAND_POOL_COMMON(AdaptiveAvgPool##N##d);                                                                 \
  };                                                                                                           \
  ARGAND_LIBRARY_MODULE(AdaptiveAvgPool##N##d)
ARGAND_POOL(1, ExpandingArray<1>);
ARGAND_POOL(2, ExpandingArrayWithOptionalElem<2>);
ARGAND_POOL(3, ExpandingArrayWithOptionalElem<3>);
#undef ARGAND_POOL
#undef ARGAND_POOL_COMMON

}  // namespace argand::nn
