#include "argand/kernels/cuda/radix_sort.h"

#include <algorithm>

#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/radix_sort.cuh";
constexpr int kThreads = 512, kDigits = 256, kDigitBits = 8;

// The elements that are sorted.  They are compared by `bits` bits of their keys, from `first_bit` on.
struct Input {
  const void* in;
  const unsigned* order;    // what moves along with the elements, or null: their positions
  const char *from, *type;  // of device code: as it is in memory and as it is sorted
  int64_t size;             // of an element that is sorted
  int64_t rows, n;
  int first_bit, bits;
  bool descending;
};

// Elements and their positions between two passes.
struct Place {
  void* elements;
  unsigned* order;
};

template <class Index>
void sort(const Input& r, int64_t count, void* values, Index* indices) {
  const int64_t all = r.rows * r.n, tile = r.size <= 4 ? 16 * kThreads : 8 * kThreads;
  const auto order_size = static_cast<int64_t>(sizeof(unsigned));
  RadixPass pass{r.n, static_cast<unsigned>((r.n + tile - 1) / tile), 0, r.descending ? kDigits - 1u : 0u};
  const unsigned blocks = blocks_for(r.rows * pass.tiles, 1);
  // Few tiles are added up by a thread for each four digits, many by 1024.
  const unsigned columns = kDigits / 4, stretches = pass.tiles > 16 ? 1024 : 1;
  const Grid starts =
      stretches > 1 ? Grid{blocks_for(r.rows * columns, 1), stretches} : Grid{blocks_for(r.rows, 1), columns};
  const Grid moving{
      .blocks = blocks, .threads = kThreads, .shared_memory = static_cast<size_t>(tile * (r.size + order_size))};
  const int passes = (r.bits + kDigitBits - 1) / kDigitBits;
  const Scratch counts(int64_t{blocks} * kDigits * order_size), totals(r.rows * kDigits * order_size);
  // Passes write these in turn, so that the last one reads the first of them.  The second is the results, if they are
  // as large.
  const bool results_fit = values && count == r.n;
  const int64_t first_size = passes > 1 ? all : 0, second_size = passes > 2 && !results_fit ? all : 0;
  const Scratch first_elements(first_size * r.size), first_order(first_size * order_size);
  const Scratch second_elements(second_size * r.size), second_order(second_size * order_size);
  const Place places[2] = {{first_elements.data(), first_order.as<unsigned>()},
                           {results_fit ? values : second_elements.data(),
                            results_fit ? reinterpret_cast<unsigned*>(indices) : second_order.as<unsigned>()}};
  const char* index_type = sizeof(Index) == sizeof(unsigned) ? "unsigned" : device_type_name(kLong);
  Place from{const_cast<void*>(r.in), const_cast<unsigned*>(r.order)};
  for (int i = 0; i < passes; ++i) {
    const bool last = i + 1 == passes;
    const char* from_type = i == 0 ? r.from : r.type;
    pass.shift = r.first_bit + i * kDigitBits;
    launch(kernel_instance(kHeader, "count_digits", r.type, from_type), {blocks, kThreads}, from.elements, pass,
           counts.as<unsigned>());
    launch(kernel_instance(kHeader, "start_digits", kDigits), starts, counts.as<unsigned>(), pass.tiles, stretches,
           totals.as<unsigned>());
    const Place to = places[(passes - i) % 2];
    const Kernel move = kernel_instance(kHeader, "move_by_digit", r.type, from_type, last ? index_type : "unsigned");
    move.allow_shared_memory(moving.shared_memory);
    const auto run = [&](void* elements, auto* order, int64_t most) {
      launch(move, moving, from.elements, from.order, pass, counts.as<unsigned>(), totals.as<unsigned>(), elements,
             order, static_cast<unsigned>(most));
    };
    if (last)
      run(values, indices, count);
    else
      run(to.elements, to.order, r.n);
    from = to;
  }
}

}  // namespace

void radix_sort(const SortRows& r, int64_t count, bool descending, void* values, int64_t* indices) {
  const char* type = device_type_name(r.type);
  const int64_t size = element_size(r.type);
  sort({r.in, nullptr, type, type, size, r.outer, r.n, 0, static_cast<int>(8 * size), descending}, count, values,
       indices);
}

void radix_sort(const int64_t* in, const unsigned* companions, int64_t n, int first_bit, int bits, unsigned* values,
                unsigned* order) {
  sort({in, companions, device_type_name(kLong), "unsigned", sizeof(unsigned), 1, n, first_bit, bits, false}, n, values,
       order);
}

}  // namespace argand::cuda
