// Definitions of NormImplBase, for the files that instantiate it.
#pragma once
#include "argand/nn/init.h"
#include "argand/nn/modules/batchnorm.h"
#include "argand/ops/functions.h"

namespace argand::nn {

template <class Derived, class Options>
void NormImplBase<Derived, Options>::reset() {
  const bool affine = options.affine(), tracks = options.track_running_stats();
  const int64_t n = options.num_features();
  weight = this->register_parameter("weight", affine ? empty({n}) : Tensor(), affine);
  bias = this->register_parameter("bias", affine ? empty({n}) : Tensor(), affine);
  running_mean = this->register_buffer("running_mean", tracks ? zeros({n}) : Tensor());
  running_var = this->register_buffer("running_var", tracks ? ones({n}) : Tensor());
  num_batches_tracked =
      this->register_buffer("num_batches_tracked", tracks ? zeros({}, TensorOptions(kLong)) : Tensor());
  reset_parameters();
}

template <class Derived, class Options>
void NormImplBase<Derived, Options>::reset_parameters() {
  reset_running_stats();
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

template <class Derived, class Options>
void NormImplBase<Derived, Options>::reset_running_stats() {
  if (!options.track_running_stats()) return;
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}

template <class Derived, class Options>
void NormImplBase<Derived, Options>::print_options(std::ostream& stream) const {
  stream << std::boolalpha << "(" << options.num_features() << ", eps=" << options.eps() << ", momentum=";
  if constexpr (requires { options.momentum().has_value(); }) {
    if (options.momentum())
      stream << *options.momentum();
    else
      stream << "None";
  } else {
    stream << options.momentum();
  }
  stream << ", affine=" << options.affine() << ", track_running_stats=" << options.track_running_stats() << ")";
}

template <class Derived, class Options>
void NormImplBase<Derived, Options>::check_dim(const Tensor& input, int64_t least, int64_t most) const {
  const int64_t dim = input.dim();
  ARGAND_CHECK(ShapeError, dim >= least && dim <= most, "expected ", least, "D",
               least == most ? "" : str(" or ", most, "D"), " input (got ", dim, "D input)");
}

}  // namespace argand::nn
