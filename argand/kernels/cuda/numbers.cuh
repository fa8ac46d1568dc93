// Numbers of the host, which come with the launch.
#pragma once
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

__global__ void __launch_bounds__(kNumbersPerLaunch) put_numbers(NumberList list, int64_t* to, int n) {
  await_earlier_work();
  const int i = threadIdx.x;
  if (i < n) to[i] = list.numbers[i];
}

}  // namespace argand
