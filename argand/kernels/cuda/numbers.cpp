#include <algorithm>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

void put_numbers(const int64_t* numbers, int64_t n, int64_t* to) {
  const Kernel run = kernel("argand/kernels/cuda/numbers.cuh", "put_numbers");
  for (int64_t begin = 0; begin < n; begin += kNumbersPerLaunch) {
    const int64_t count = std::min<int64_t>(n - begin, kNumbersPerLaunch);
    NumberList list{};
    std::copy_n(numbers + begin, count, list.numbers);
    launch(run, {1, kNumbersPerLaunch}, list, to + begin, static_cast<int>(count));
  }
}

const bool registered = (blocks::put_numbers.set(kCUDA, put_numbers), true);

}  // namespace
}  // namespace argand::cuda
