// How convolutions of few channels are cut, depending on their shape: large batches into tiles that fill a
// multiprocessor, small ones into enough tiles and shares of sums to keep all multiprocessors busy.  The order of sums
// follows from a plan, so it is the same on every device on which the plan fits.
#pragma once
#include <cstdint>

#include "argand/kernels/cuda/few_channels.cuh"

namespace argand::cuda::own {

// A plan for `n` images; band == 0: these kernels do not support the shape.  Thread-safe; a plan is made once per shape
// and kept.
const FewForward& forward_plan(const FewChannels& s, int64_t n);
const FewWeightGrad& weight_grad_plan(const FewChannels& s, int64_t n);
// The number of blocks; each sums over some of the bands.
int64_t weight_grad_parts(const FewWeightGrad& f, int64_t n);

}  // namespace argand::cuda::own
