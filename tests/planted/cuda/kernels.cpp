// Kernels with one bug each: a tool of compute-sanitizer that lets its one pass is not checking anything.
//   planted_kernels none | memcheck | racecheck | initcheck
// Run with ARGAND_CUDA_CACHING=0, so that the tool sees each tensor's own memory.
#include <cstdio>
#include <cstring>
#include <map>

#include "argand/exec/cuda.h"
#include "argand/ops/functions.h"
#include "argand/runtime/cuda/launch.h"

namespace {

constexpr unsigned kThreads = 64;

const char* const kSource = R"(
#include "argand/runtime/cuda/early_start.cuh"
namespace argand {

__global__ void none(const float* in, float* out) {
  await_earlier_work();
  out[threadIdx.x] = in[threadIdx.x] * 2;
}

// One element behind the end.
__global__ void memcheck(const float* in, float* out) {
  await_earlier_work();
  out[threadIdx.x + 1] = in[threadIdx.x] * 2;
}

// The other warp's half is read without waiting for it.
__global__ void racecheck(const float* in, float* out) {
  await_earlier_work();
  __shared__ float all[64];
  all[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = all[63 - threadIdx.x];
}

// Reads what nobody wrote.
__global__ void initcheck(const float*, float* out) {
  await_earlier_work();
  out[0] = out[threadIdx.x] * 2;
}

}  // namespace argand
)";

}  // namespace

int main(int argc, char** argv) {
  using namespace argand;
  const std::string bug = argc == 2 ? argv[1] : "";
  if (bug != "none" && bug != "memcheck" && bug != "racecheck" && bug != "initcheck") {
    std::fprintf(stderr, "usage: planted_kernels none | memcheck | racecheck | initcheck\n");
    return 2;
  }
  const TensorOptions on_gpu = TensorOptions(kFloat).device(kCUDA);
  const Tensor in = ones({kThreads}, on_gpu), out = empty({kThreads}, on_gpu);
  cuda::launch(cuda::compile({kSource, "argand::" + bug}), {1, kThreads},
               static_cast<const float*>(in.data_ptr<float>()), out.data_ptr<float>());
  cuda::synchronize();
  std::printf("%g\n", out.cpu().data_ptr<float>()[0]);
  return 0;
}
