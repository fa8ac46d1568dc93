// A kernel as programs write them: on the current stream, with packed accessors, for each dtype there may be.
#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

template <typename scalar_t>
__global__ void leaky(const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> in,
                      torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> out, scalar_t slope) {
  const int i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < in.size(1)) out[i][j] = in[i][j] > scalar_t(0) ? in[i][j] : slope * in[i][j];
}

at::Tensor leaky_cuda(const at::Tensor& x, double slope) {
  TORCH_CHECK(x.is_cuda() && x.dim() == 2, "leaky: expected a matrix on a GPU");
  const at::cuda::OptionalCUDAGuard guard(at::device_of(x));
  auto out = at::empty_like(x);
  const int threads = 256;
  const dim3 blocks(static_cast<unsigned>(at::ceil_div<int64_t>(x.size(1), threads)), static_cast<unsigned>(x.size(0)));
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "leaky", [&] {
    leaky<scalar_t><<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
        out.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(), static_cast<scalar_t>(slope));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}
