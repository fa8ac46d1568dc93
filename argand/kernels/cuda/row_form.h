// How kernels distribute rows over threads; the device side is row_vectors.cuh.
#pragma once
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {

// The number of elements of a run of `n` that are loaded at once: 16 bytes, if n and these addresses allow it.
template <class... Pointers>
int vector_width(ScalarType type, int64_t n, const Pointers*... pointers) {
  const auto width = static_cast<int>(16 / element_size(type));
  return n % width == 0 && (reinterpret_cast<uintptr_t>(pointers) | ... | 0) % 16 == 0 ? width : 1;
}

// Rows of n elements in registers: each thread of a warp or of a block has 1, 2 or 4 vectors of `width`.
struct RowForm {
  static constexpr int64_t kWarp = 32, kThreads = 256, kMaxThreads = 1024, kMaxItems = 4;
  int width, items = 0;  // 0: the row is too long; one block per row
  bool one_warp = true;
  Grid grid;
  RowForm(int64_t rows, int64_t n, int width) : width(width) {
    for (const bool warp : {true, false}) {
      for (int i = 1; i <= kMaxItems; i *= 2) {
        const int64_t needed = (n + int64_t{width} * i - 1) / (int64_t{width} * i);
        // A block has more than 256 threads only if more items per thread are not enough.
        if (needed > (warp ? kWarp : i < kMaxItems ? kThreads : kMaxThreads)) continue;
        items = i;
        one_warp = warp;
        grid.threads = static_cast<unsigned>(warp ? kThreads : (needed + kWarp - 1) / kWarp * kWarp);
        grid.blocks = blocks_for(rows, warp ? kThreads / kWarp : 1);
        return;
      }
    }
    grid.threads = static_cast<unsigned>(kMaxThreads);
    grid.blocks = blocks_for(rows, 1);
  }
};

}  // namespace argand::cuda
