#include "argand/kernels/cuda/group_rows.h"

#include <algorithm>
#include <bit>

#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/group_rows.cuh";
constexpr int kFew = 1024, kDigitBits = 8, kDigits = 256, kThreads = 256, kTile = 16 * kThreads;

}  // namespace

GroupedRows::GroupedRows(const int64_t* index, int64_t count, int64_t rows)
    : n_(count), memory_(4 * count * static_cast<int64_t>(sizeof(unsigned))) {
  const int n = static_cast<int>(count);
  unsigned *keys = memory_.as<unsigned>(), *order = keys + count;
  keys_ = keys;
  if (n <= kFew) {
    launch(kernel(kHeader, "group_few"), {1, kFew}, index, n, keys, order);
    return;
  }
  const unsigned blocks = blocks_for(count, kTile);
  const Scratch counts(int64_t{kDigits} * blocks * static_cast<int64_t>(sizeof(unsigned)));
  const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<uint64_t>(rows - 1))));
  unsigned* to = keys;
  const unsigned* from = nullptr;
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    const bool first = shift == 0;
    const void* in = first ? static_cast<const void*>(index) : from;
    const unsigned* positions = first ? nullptr : from + count;
    const char* key = first ? device_type_name(kLong) : "unsigned";
    launch(kernel(kHeader, instance("count_digits", key)), {blocks, kThreads}, in, n, shift, counts.as<unsigned>());
    launch(kernel(kHeader, "sum_counts"), {1, kFew}, counts.as<unsigned>(), static_cast<int>(kDigits * blocks));
    launch(kernel(kHeader, instance("move_by_digit", key)), {blocks, kThreads}, in, positions, n, shift,
           static_cast<const unsigned*>(counts.as<unsigned>()), to, to + count);
    from = to;
    to = to == keys ? keys + 2 * count : keys;
  }
  keys_ = from;
}

}  // namespace argand::cuda
