// How convolutions of few channels are cut, by their shape: large batches into tiles that fill a multiprocessor, small
// ones into as many tiles and shares of sums as keep all multiprocessors busy.  The order of sums follows from a plan,
// so it is the same on every device on which the plan fits.
#pragma once
#include <cstdint>

#include "argand/kernels/cuda/few_channels.cuh"

namespace argand::cuda::own {

// For `n` images.  band == 0: not for these kernels.  Thread-safe; a plan is made once for a shape, and stays.
const FewForward& forward_plan(const FewChannels& s, int64_t n);
const FewWeightGrad& weight_grad_plan(const FewChannels& s, int64_t n);
// Blocks, each of which makes sums of its own over some of the bands.
int64_t weight_grad_parts(const FewWeightGrad& f, int64_t n);

}  // namespace argand::cuda::own
