// Batch normalisation, and the base that it shares with instance normalisation.
#pragma once
#include "argand/nn/options/batchnorm.h"
#include "argand/nn/pimpl.h"

namespace argand::nn {

// Weights, bias and running statistics of num_features channels; Derived is the module type.
template <class Derived, class Options>
class NormImplBase : public Cloneable<Derived> {
 public:
  explicit NormImplBase(const Options& o) : options(o) { reset(); }
  void reset() override;
  void reset_parameters();
  void reset_running_stats();

  Options options;
  Tensor weight, bias;               // [num_features], 1 and 0 at first; undefined unless affine
  Tensor running_mean, running_var;  // [num_features], 0 and 1 at first; undefined unless track_running_stats
  Tensor num_batches_tracked;        // int64

 protected:
  // "(num_features, eps=..., ...)", as pretty_print writes the options.
  void print_options(std::ostream& stream) const;
  // ShapeError unless the input has `least` to `most` dimensions.
  void check_dim(const Tensor& input, int64_t least, int64_t most) const;
};

// In training, normalises each channel with the statistics of the batch, and moves the running statistics towards them
// by `momentum` (or averages over all batches).  In eval(), normalises with the running statistics, if they are
// tracked.
template <size_t D, class Derived>
class BatchNormImplBase : public NormImplBase<Derived, BatchNormOptions> {
 public:
  explicit BatchNormImplBase(int64_t num_features) : BatchNormImplBase(BatchNormOptions(num_features)) {}
  explicit BatchNormImplBase(const BatchNormOptions& options) : NormImplBase<Derived, BatchNormOptions>(options) {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};

// The inputs are [N, C] or [N, C, L] in 1d, [N, C, H, W] in 2d, and [N, C, D, H, W] in 3d.
#define ARGAND_BATCH_NORM(N)                                                     \
  class BatchNorm##N##dImpl : public BatchNormImplBase<N, BatchNorm##N##dImpl> { \
   public:                                                                       \
    using BatchNormImplBase::BatchNormImplBase;                                  \
  };                                                                             \
  ARGAND_LIBRARY_MODULE(BatchNorm##N##d);                                        \
  extern template class NormImplBase<BatchNorm##N##dImpl, BatchNormOptions>;     \
  extern template class BatchNormImplBase<N, BatchNorm##N##dImpl>
ARGAND_BATCH_NORM(1);
ARGAND_BATCH_NORM(2);
ARGAND_BATCH_NORM(3);
#undef ARGAND_BATCH_NORM

}  // namespace argand::nn
