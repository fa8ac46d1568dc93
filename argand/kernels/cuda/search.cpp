#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

constexpr int kThreads = 256;

void search_sorted(const SearchCall& c) {
  const char* out_type = device_type_name(c.out_int32 ? kInt : kLong);
  launch(kernel_instance("argand/kernels/cuda/search.cuh", "search_sorted", c.type, c.right, out_type),
         {blocks_for(c.count, kThreads), kThreads}, c.rows, c.order, c.values, SearchShape{c.n, c.count, c.per_row},
         c.out);
}

const bool registered = (blocks::search_sorted.set(kCUDA, search_sorted), true);

}  // namespace
}  // namespace argand::cuda
