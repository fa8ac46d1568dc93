#include <algorithm>

#include "argand/core/dispatch.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/error_slot.h"

namespace argand::cuda {
namespace {

constexpr int kThreads = 256;
constexpr DtypeSet kIndexTypes = dtype_bit(kInt) | dtype_bit(kLong) | dtype_bit(kByte);

void check_index(const char* op, const void* index, ScalarType type, int64_t n, int64_t bound, int64_t dim, bool wrap,
                 int64_t ignore, int64_t* out) {
  if (!contains(kIndexTypes, type)) throw_unsupported_dtype(op, type);
  if (n == 0) return;
  const unsigned blocks = std::min(blocks_for(n, kThreads), 8u * static_cast<unsigned>(multi_processor_count()));
  launch(kernel_instance("argand/kernels/cuda/check_index.cuh", "check_index", type), {blocks, kThreads}, index, out, n,
         bound, dim, ignore != kNoIgnoredIndex, ignore, wrap, error_slot(), op);
}

const bool registered = (blocks::check_index.set(kCUDA, check_index), true);

}  // namespace
}  // namespace argand::cuda
