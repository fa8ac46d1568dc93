#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/kernels/cuda/reduce.h"

namespace argand::cuda {
namespace {

struct ExtremeStore {
  int64_t* indices;
  void* values;
};

void arg_extreme(bool largest, const void* in, ScalarType type, int64_t outer, int64_t n, int64_t inner,
                 int64_t* indices, void* values) {
  if (outer * inner == 0) return;
  const ExtremeStore store{indices, values};
  reduce_with(
      extreme_reduction(type, largest, true, instance("argand::StoreExtreme", extreme_type(type), type), &store), in,
      ReduceLayout({outer, n, inner}, {n * inner, inner, 1}, {1}));
}

const bool registered = (blocks::arg_extreme.set(kCUDA, arg_extreme), true);

}  // namespace
}  // namespace argand::cuda
