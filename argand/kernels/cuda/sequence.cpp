#include <algorithm>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

constexpr int kThreads = 256;

void fill_sequence(const Sequence& s, ScalarType type, void* out, int64_t n) {
  const unsigned blocks =
      static_cast<unsigned>(std::min<int64_t>((n + kThreads - 1) / kThreads, int64_t{multi_processor_count()} * 32));
  launch(kernel_instance("argand/kernels/cuda/sequence.cuh", "fill_sequence", type, static_cast<int>(s.kind)),
         {blocks, kThreads}, s, out, n);
}

const bool registered = (blocks::fill_sequence.set(kCUDA, fill_sequence), true);

}  // namespace
}  // namespace argand::cuda
