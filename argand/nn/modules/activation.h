// Activations as modules; what each computes stands in functional/activation.h.  All keep the shape except GLU, which
// halves one dimension.
#pragma once
#include "argand/nn/options/activation.h"
#include "argand/nn/pimpl.h"

namespace argand::nn {

#define ARGAND_ACTIVATION_COMMON()                        \
  void reset() override {}                                \
  void pretty_print(std::ostream& stream) const override; \
  Tensor forward(Tensor input)

// Activations whose options have defaults.
#define ARGAND_ACTIVATION(Name)                                                    \
  class Name##Impl : public Cloneable<Name##Impl> {                                \
   public:                                                                         \
    explicit Name##Impl(const Name##Options& options_ = {}) : options(options_) {} \
    ARGAND_ACTIVATION_COMMON();                                                    \
    Name##Options options;                                                         \
  };                                                                               \
  ARGAND_LIBRARY_MODULE(Name)
ARGAND_ACTIVATION(ReLU);
ARGAND_ACTIVATION(ReLU6);
ARGAND_ACTIVATION(LeakyReLU);
ARGAND_ACTIVATION(RReLU);
ARGAND_ACTIVATION(ELU);
ARGAND_ACTIVATION(SELU);
ARGAND_ACTIVATION(CELU);
ARGAND_ACTIVATION(GELU);
ARGAND_ACTIVATION(Hardshrink);
ARGAND_ACTIVATION(Softshrink);
ARGAND_ACTIVATION(Softplus);
ARGAND_ACTIVATION(GLU);
#undef ARGAND_ACTIVATION

// ValueError unless min_val is less than max_val.
class HardtanhImpl : public Cloneable<HardtanhImpl> {
 public:
  explicit HardtanhImpl(const HardtanhOptions& options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);
  HardtanhOptions options;
};
ARGAND_LIBRARY_MODULE(Hardtanh);

// Activations without options.
#define ARGAND_ACTIVATION(Name)                     \
  class Name##Impl : public Cloneable<Name##Impl> { \
   public:                                          \
    ARGAND_ACTIVATION_COMMON();                     \
  };                                                \
  ARGAND_LIBRARY_MODULE(Name)
ARGAND_ACTIVATION(SiLU);
ARGAND_ACTIVATION(Mish);
ARGAND_ACTIVATION(Sigmoid);
ARGAND_ACTIVATION(LogSigmoid);
ARGAND_ACTIVATION(Tanh);
ARGAND_ACTIVATION(Softsign);
ARGAND_ACTIVATION(Tanhshrink);
ARGAND_ACTIVATION(Hardsigmoid);
ARGAND_ACTIVATION(Hardswish);
ARGAND_ACTIVATION(Softmax2d);  // over the channels of [N, C, H, W] or [C, H, W]
#undef ARGAND_ACTIVATION

// Activations along a dimension that must be given.
#define ARGAND_ACTIVATION(Name)                                               \
  class Name##Impl : public Cloneable<Name##Impl> {                           \
   public:                                                                    \
    explicit Name##Impl(int64_t dim) : Name##Impl(Name##Options(dim)) {}      \
    explicit Name##Impl(const Name##Options& options_) : options(options_) {} \
    ARGAND_ACTIVATION_COMMON();                                               \
    Name##Options options;                                                    \
  };                                                                          \
  ARGAND_LIBRARY_MODULE(Name)
ARGAND_ACTIVATION(Softmax);
ARGAND_ACTIVATION(Softmin);
ARGAND_ACTIVATION(LogSoftmax);
#undef ARGAND_ACTIVATION

class ThresholdImpl : public Cloneable<ThresholdImpl> {
 public:
  ThresholdImpl(double threshold, double value) : ThresholdImpl(ThresholdOptions(threshold, value)) {}
  explicit ThresholdImpl(const ThresholdOptions& options_) : options(options_) {}
  ARGAND_ACTIVATION_COMMON();
  ThresholdOptions options;
};
ARGAND_LIBRARY_MODULE(Threshold);
#undef ARGAND_ACTIVATION_COMMON

class PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  explicit PReLUImpl(const PReLUOptions& options = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  PReLUOptions options;
  Tensor weight;  // [num_parameters], of dimension 1 of the input
};
ARGAND_LIBRARY_MODULE(PReLU);

}  // namespace argand::nn
