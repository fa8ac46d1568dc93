// Convolutions of one to three dimensions, and transposed ones.
#pragma once
#include "argand/nn/modules/container/any.h"
#include "argand/nn/options/conv.h"

namespace argand::nn {

// Parts that all convolutions share; Derived is the module type.
template <size_t D, class Derived>
class ConvNdImpl : public Cloneable<Derived> {
 public:
  ConvNdImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : ConvNdImpl(ConvOptions<D>(in_channels, out_channels, kernel_size)) {}
  explicit ConvNdImpl(ConvOptions<D> options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  // [N, in_channels, spatial] or [in_channels, spatial] -> the same with out_channels.
  Tensor forward(const Tensor& input);

  ConvOptions<D> options;
  Tensor weight;  // [out_channels, in_channels / groups, kernel...]
  Tensor bias;
};

template <size_t D, class Derived>
class ConvTransposeNdImpl : public Cloneable<Derived> {
 public:
  ConvTransposeNdImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : ConvTransposeNdImpl(ConvTransposeOptions<D>(in_channels, out_channels, kernel_size)) {}
  explicit ConvTransposeNdImpl(ConvTransposeOptions<D> options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  // `output_size` selects one of the sizes that the strides allow; the smallest if not given.
  Tensor forward(const Tensor& input, const std::optional<IntArrayRef>& output_size = std::nullopt);

  ConvTransposeOptions<D> options;
  Tensor weight;  // [in_channels, out_channels / groups, kernel...]
  Tensor bias;

 protected:
  ARGAND_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<IntArrayRef>())})
};

#define ARGAND_CONV(N)                                                                     \
  class Conv##N##dImpl : public ConvNdImpl<N, Conv##N##dImpl> {                            \
   public:                                                                                 \
    using ConvNdImpl::ConvNdImpl;                                                          \
  };                                                                                       \
  ARGAND_LIBRARY_MODULE(Conv##N##d);                                                       \
  class ConvTranspose##N##dImpl : public ConvTransposeNdImpl<N, ConvTranspose##N##dImpl> { \
   public:                                                                                 \
    using ConvTransposeNdImpl::ConvTransposeNdImpl;                                        \
  };                                                                                       \
  ARGAND_LIBRARY_MODULE(ConvTranspose##N##d);                                              \
  extern template class ConvNdImpl<N, Conv##N##dImpl>;                                     \
  extern template class ConvTransposeNdImpl<N, ConvTranspose##N##dImpl>
ARGAND_CONV(1);
ARGAND_CONV(2);
ARGAND_CONV(3);
#undef ARGAND_CONV

}  // namespace argand::nn
