#include <bit>
#include <limits>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

constexpr int kThreads = 256;

template <class I>
void launch_zero(const char* unit, const char* number, void* matrices, const Matrices& s, int64_t diagonal,
                 bool lower) {
  const int64_t n = s.count * s.rows * s.columns;
  launch(kernel_instance("argand/kernels/cuda/triangle.cuh", "zero_outside", unit, number),
         {blocks_for(n, kThreads), kThreads}, matrices, static_cast<I>(n), static_cast<I>(s.rows),
         static_cast<I>(s.columns), diagonal, lower);
}

void zero_outside(void* matrices, const Matrices& s, int64_t item_size, int64_t diagonal, bool lower) {
  constexpr const char* kTypes[] = {"unsigned char", "unsigned short", "unsigned", "unsigned long long",
                                    "Vec<unsigned long long, 2>"};
  const char* unit = kTypes[std::countr_zero(static_cast<uint64_t>(item_size))];
  if (s.count * s.rows * s.columns <= std::numeric_limits<int>::max())
    launch_zero<unsigned>(unit, "unsigned", matrices, s, diagonal, lower);
  else
    launch_zero<unsigned long long>(unit, "unsigned long long", matrices, s, diagonal, lower);
}

const bool registered = (blocks::zero_outside.set(kCUDA, zero_outside), true);

}  // namespace
}  // namespace argand::cuda
