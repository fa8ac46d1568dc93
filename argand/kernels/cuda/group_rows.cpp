#include "argand/kernels/cuda/group_rows.h"

#include <algorithm>
#include <bit>

#include "argand/kernels/cuda/kernel_source.h"
#include "argand/kernels/cuda/radix_sort.h"

namespace argand::cuda {
namespace {

constexpr int kFew = 1024;

}  // namespace

GroupedRows::GroupedRows(const int64_t* index, int64_t count, int64_t rows)
    : n_(count), memory_(2 * count * static_cast<int64_t>(sizeof(unsigned))) {
  unsigned *keys = memory_.as<unsigned>(), *order = keys + count;
  if (count <= kFew)
    launch(kernel("argand/kernels/cuda/group_rows.cuh", "group_few"), {1, kFew}, index, static_cast<int>(count), keys,
           order);
  else
    radix_sort(index, nullptr, count, 0, std::max(1, static_cast<int>(std::bit_width(static_cast<uint64_t>(rows - 1)))),
               keys, order);
}

}  // namespace argand::cuda
