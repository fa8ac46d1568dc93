#include "argand/kernels/api/along_dim.h"

#include <bit>
#include <limits>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/along_dim.cuh";
constexpr int kThreads = 256;

const char* number_type(const AlongDim& s) {
  return s.n <= std::numeric_limits<int>::max() ? "unsigned" : "unsigned long long";
}

void gather_along(const AlongDim& s, int64_t item_size, const void* from, const int64_t* index, void* to) {
  constexpr const char* kTypes[] = {"unsigned char", "unsigned short", "unsigned", "unsigned long long",
                                    "argand::Vec<unsigned long long, 2>"};
  const char* unit = kTypes[std::countr_zero(static_cast<uint64_t>(item_size))];
  launch(kernel_instance(kHeader, "gather_along", unit, number_type(s)), {blocks_for(s.n, kThreads), kThreads}, s, from,
         index, to);
}

void slots_along(const AlongDim& s, const int64_t* index, int64_t* slots) {
  launch(kernel_instance(kHeader, "slots_along", number_type(s)), {blocks_for(s.n, kThreads), kThreads}, s, index,
         slots);
}

const bool registered =
    (blocks::gather_along.set(kCUDA, gather_along), blocks::slots_along.set(kCUDA, slots_along), true);

}  // namespace
}  // namespace argand::cuda
