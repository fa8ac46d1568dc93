#include "argand/kernels/api/sort.h"

#include <algorithm>
#include <bit>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/kernels/cuda/radix_sort.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char *kShortHeader = "argand/kernels/cuda/sort_short_rows.cuh",
                     *kSelectHeader = "argand/kernels/cuda/select.cuh",
                     *kRadixHeader = "argand/kernels/cuda/radix_sort.cuh";
constexpr int kThreads = 512, kPickThreads = 256, kModeThreads = 1024;
constexpr int64_t kMostShort = 2048;      // elements of rows that are sorted in shared memory
constexpr int64_t kMostSelected = 2048;   // that one block puts in order
constexpr int64_t kKept = 16 * kThreads;  // elements that a block keeps in registers

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
unsigned power_of_two(int64_t n) { return static_cast<unsigned>(std::bit_ceil(static_cast<uint64_t>(n))); }

void check_rows(const SortRows& r) {
  if (r.inner != 1) throw NotOnDevice("rows that are not contiguous");
  if (r.n > kMostRadixElements) throw NotOnDevice("rows of about 2^32 elements or more");
}

// ---- short rows

ShortRows short_rows(const SortRows& r, bool descending) {
  ShortRows s{r.outer, r.n, 1, power_of_two(r.n), descending};
  s.together = std::min(static_cast<unsigned>(kMostShort) / s.length, power_of_two(std::min(r.outer, kMostShort)));
  return s;
}
Grid grid_of(const ShortRows& s) { return {blocks_for(s.rows, s.together), kThreads}; }

// ---- selecting from long rows

SelectShape select_shape(int64_t n, int64_t source_n, unsigned chunks, int64_t count, bool descending) {
  return {n,
          source_n,
          chunks,
          static_cast<unsigned>(count),
          power_of_two(count),
          static_cast<int>(std::bit_width(static_cast<uint64_t>(source_n - 1))),
          descending};
}

// How many elements of a chunk a thread keeps.
int kept_items(int64_t n, int64_t chunks) { return ceil_div(n, chunks) <= kKept ? 16 : 0; }

void select_first(const SortRows& r, int64_t count, bool descending, void* values, int64_t* indices) {
  // Few long rows are cut, so that there is work for all of the device, and the first of each chunk compete again.
  const int64_t wanted = ceil_div(int64_t{4} * multi_processor_count(), r.outer);
  const int64_t chunks = std::clamp<int64_t>(r.n / std::max(kKept, 4 * count), 1, wanted);
  const void* in = r.in;
  const unsigned* list = nullptr;
  int64_t n = r.n;
  const int64_t candidates = chunks > 1 ? r.outer * chunks * count : 0;
  const Scratch chosen(candidates * static_cast<int64_t>(element_size(r.type))),
      positions(candidates * static_cast<int64_t>(sizeof(unsigned)));
  if (chunks > 1) {
    const auto s = select_shape(n, n, static_cast<unsigned>(chunks), count, descending);
    launch(kernel_instance(kSelectHeader, "select_first", r.type, kept_items(n, chunks), "unsigned"),
           {blocks_for(r.outer * chunks, 1), kThreads}, in, list, in, s, chosen.data(), positions.as<unsigned>());
    in = chosen.data();
    list = positions.as<unsigned>();
    n = chunks * count;
  }
  launch(kernel_instance(kSelectHeader, "select_first", r.type, kept_items(n, 1), kLong),
         {blocks_for(r.outer, 1), kThreads}, in, list, r.in, select_shape(n, r.n, 1, count, descending), values,
         indices);
}

// ---- the blocks

void sort_first(const SortRows& r, int64_t count, bool descending, void* values, int64_t* indices) {
  check_rows(r);
  if (count == 0 || r.outer == 0) return;
  if (r.n <= kMostShort) {
    const ShortRows s = short_rows(r, descending);
    return launch(kernel_instance(kShortHeader, "sort_short_rows", r.type), grid_of(s), r.in, s,
                  static_cast<unsigned>(count), values, indices);
  }
  if (count <= kMostSelected && 4 * count <= r.n) return select_first(r, count, descending, values, indices);
  radix_sort(r, count, descending, values, indices);
}

void sort_numbers(const int64_t* in, int64_t n, int bits, uint32_t* numbers, uint32_t* positions) {
  radix_sort(in, nullptr, n, 0, bits, numbers, positions);
}

void pick(const SortRows& r, Pick what, int64_t nth, void* values, int64_t* indices) {
  check_rows(r);
  if (r.outer == 0) return;
  const int kind = static_cast<int>(what);
  if (r.n <= kMostShort) {
    const ShortRows s = short_rows(r, false);
    return launch(kernel_instance(kShortHeader, "pick_of_short_rows", r.type, kind), grid_of(s), r.in, s, nth, values,
                  indices);
  }
  // One block would take long for a row of many elements, and few of them leave most of the device idle.
  const bool by_block = r.n <= 8 * kKept || r.outer >= 64;
  if (what != Pick::kMode && by_block)
    return launch(kernel_instance(kSelectHeader, "select_one", r.type, kept_items(r.n, 1), kind),
                  {blocks_for(r.outer, 1), kThreads}, r.in, select_shape(r.n, r.n, 1, 1, false), nth, values, indices);
  const int64_t all = r.outer * r.n;
  const Scratch sorted(all * static_cast<int64_t>(element_size(r.type))),
      order(all * static_cast<int64_t>(sizeof(int64_t)));
  radix_sort(r, r.n, false, sorted.data(), order.as<int64_t>());
  const auto* from = static_cast<const void*>(sorted.data());
  const auto* at = static_cast<const int64_t*>(order.data());
  if (what == Pick::kMode)
    return launch(kernel_instance(kRadixHeader, "mode_of_sorted", r.type), {blocks_for(r.outer, 1), kModeThreads}, from,
                  at, r.n, values, indices);
  launch(kernel_instance(kRadixHeader, "pick_of_sorted", r.type, kind),
         {blocks_for(r.outer, kPickThreads), kPickThreads}, from, at, r.outer, r.n, nth, values, indices);
}

const bool registered = (blocks::sort_first.set(kCUDA, sort_first), blocks::sort_numbers.set(kCUDA, sort_numbers),
                         blocks::pick.set(kCUDA, pick), true);

}  // namespace
}  // namespace argand::cuda
