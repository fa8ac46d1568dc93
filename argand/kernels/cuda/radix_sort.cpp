#include "argand/kernels/cuda/radix_sort.h"

#include <algorithm>

#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/radix_sort.cuh";
constexpr int kThreads = 512, kDigits = 256, kDigitBits = 8;

// As in radix_sort.cuh.
struct RadixPass {
  int64_t n;
  unsigned tiles;
  int shift;
  bool descending;
};

// Elements and their positions between two passes.
struct Place {
  void* elements;
  unsigned* order;
};

// A block of start_digits: few tiles are added up by a thread per digit, many by 128.
Grid grid_of_starts(int64_t rows, unsigned tiles) {
  Grid g;
  g.threads = tiles > 16 ? 8 : kDigits;
  g.threads_y = tiles > 16 ? 128 : 1;
  g.blocks = blocks_for(rows * (kDigits / static_cast<int64_t>(g.threads)), 1);
  return g;
}

}  // namespace

void radix_sort(const cpu::SortRows& r, int64_t count, bool descending, void* values, int64_t* indices) {
  const int64_t size = element_size(r.type), all = r.outer * r.n;
  const int64_t tile = size <= 4 ? 16 * kThreads : 8 * kThreads;
  RadixPass pass{r.n, static_cast<unsigned>((r.n + tile - 1) / tile), 0, descending};
  const unsigned blocks = blocks_for(r.outer * pass.tiles, 1);
  const Grid starts = grid_of_starts(r.outer, pass.tiles);
  const int passes = static_cast<int>(size);
  const Scratch counts(int64_t{blocks} * kDigits * static_cast<int64_t>(sizeof(unsigned)));
  const Scratch totals(r.outer * kDigits * static_cast<int64_t>(sizeof(unsigned)));
  // Passes write these in turn, the last one the results.  These are one of the places until then, if they are as
  // large.
  const bool results_fit = values && count == r.n;
  const int64_t first_size = passes > 1 ? all : 0, second_size = passes > 2 && !results_fit ? all : 0;
  const Scratch first_elements(first_size * size), first_order(first_size * static_cast<int64_t>(sizeof(unsigned)));
  const Scratch second_elements(second_size * size), second_order(second_size * static_cast<int64_t>(sizeof(unsigned)));
  const Place places[2] = {{first_elements.data(), first_order.as<unsigned>()},
                           {results_fit ? values : second_elements.data(),
                            results_fit ? reinterpret_cast<unsigned*>(indices) : second_order.as<unsigned>()}};
  Place from{const_cast<void*>(r.in), nullptr};
  for (int i = 0; i < passes; ++i) {
    const bool last = i + 1 == passes;
    const Place to = last ? Place{values, nullptr} : places[i % 2];
    int64_t* const to_indices = last ? indices : nullptr;
    pass.shift = i * kDigitBits;
    launch(kernel(kHeader, instance("count_digits", r.type)), {blocks, kThreads}, from.elements, pass,
           counts.as<unsigned>());
    launch(kernel(kHeader, instance("start_digits", kDigits)), starts, counts.as<unsigned>(), pass.tiles,
           totals.as<unsigned>());
    launch(kernel(kHeader, instance("move_by_digit", r.type)), {blocks, kThreads}, from.elements, from.order, pass,
           counts.as<unsigned>(), totals.as<unsigned>(), to.elements, to.order, to_indices, last ? count : r.n);
    from = to;
  }
}

}  // namespace argand::cuda
