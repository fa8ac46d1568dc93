// Layer, group, RMS and local response normalisation.
#pragma once
#include "argand/nn/options/normalization.h"
#include "argand/nn/pimpl.h"

namespace argand::nn {

// Normalises over the last dimensions, whose sizes are normalized_shape.
class LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape) : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  explicit LayerNormImpl(LayerNormOptions options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LayerNormOptions options;
  Tensor weight, bias;  // sizes normalized_shape, 1 and 0 at first; undefined unless elementwise_affine
};
ARGAND_LIBRARY_MODULE(LayerNorm);

// Normalises each group of num_channels / num_groups channels of each sample of [N, C, ...].
class GroupNormImpl : public Cloneable<GroupNormImpl> {
 public:
  GroupNormImpl(int64_t num_groups, int64_t num_channels) : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}
  explicit GroupNormImpl(const GroupNormOptions& options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  GroupNormOptions options;
  Tensor weight, bias;  // [num_channels], 1 and 0 at first; undefined unless affine
};
ARGAND_LIBRARY_MODULE(GroupNorm);

// Normalises over the last dimensions, by their mean square alone.
class RMSNormImpl : public Cloneable<RMSNormImpl> {
 public:
  RMSNormImpl(std::vector<int64_t> normalized_shape) : RMSNormImpl(RMSNormOptions(std::move(normalized_shape))) {}
  explicit RMSNormImpl(RMSNormOptions options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  RMSNormOptions options;
  Tensor weight;  // sizes normalized_shape, 1 at first; undefined unless elementwise_affine
};
ARGAND_LIBRARY_MODULE(RMSNorm);

// Normalises across neighbouring channels: see functional/normalization.h.
class LocalResponseNormImpl : public Cloneable<LocalResponseNormImpl> {
 public:
  LocalResponseNormImpl(int64_t size) : LocalResponseNormImpl(LocalResponseNormOptions(size)) {}
  explicit LocalResponseNormImpl(const LocalResponseNormOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LocalResponseNormOptions options;
};
ARGAND_LIBRARY_MODULE(LocalResponseNorm);

// The same over as many channels on both sides: one fewer in all if the size is even, though divided by it.  (PyTorch's
// sums keep the first channel in all windows that come after those it belongs to; these do not.)
class CrossMapLRN2dImpl : public Cloneable<CrossMapLRN2dImpl> {
 public:
  CrossMapLRN2dImpl(int64_t size) : CrossMapLRN2dImpl(CrossMapLRN2dOptions(size)) {}
  explicit CrossMapLRN2dImpl(const CrossMapLRN2dOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  CrossMapLRN2dOptions options;
};
ARGAND_LIBRARY_MODULE(CrossMapLRN2d);

}  // namespace argand::nn
