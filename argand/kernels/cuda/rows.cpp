#include <algorithm>
#include <bit>
#include <limits>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/add_at.h"
#include "argand/kernels/cuda/code_type.h"
#include "argand/kernels/cuda/group_rows.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/error_slot.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char *kHeader = "argand/kernels/cuda/rows.cuh", *kSumHeader = "argand/kernels/cuda/combine_rows.cuh",
                     *kCombineHeader = "argand/kernels/cuda/combine_at.cuh";
constexpr int kThreads = 256, kItems = 4, kPiece = 32, kColumnThreads = 128;
// Rows of at least kWarp units are taken by warps, kTakeItems units a thread.
constexpr int64_t kWarp = 32;
constexpr int kTakeItems = 4;
constexpr int64_t kMaxCount = std::numeric_limits<int>::max();

// Rows are moved in the largest units that they and both addresses are multiples of.
struct Units {
  const char* type;
  int64_t per_row, size;
};
Units units_for(int64_t row_bytes, const void* a, const void* b) {
  const auto together =
      static_cast<uint64_t>(row_bytes) | reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) | 16u;
  const int64_t size = int64_t{1} << std::countr_zero(together);
  constexpr const char* kTypes[] = {"unsigned char", "unsigned short", "unsigned", "unsigned long long",
                                    "argand::Unit16"};
  return {kTypes[std::countr_zero(static_cast<uint64_t>(size))], row_bytes / size, size};
}

template <class I, class... Given>
void launch_rows(const char* name, const Units& units, const char* index_type, const RowBlock& s, int64_t n,
                 int64_t total, Given... given) {
  launch(kernel_instance(kHeader, name, units.type, index_type), {blocks_for(total, kThreads * kItems), kThreads},
         given..., static_cast<I>(n), static_cast<I>(s.rows), static_cast<I>(units.per_row), static_cast<I>(total));
}

// Uses 32-bit arithmetic if it can hold all numbers; a block may count slightly more units than there are.
template <class... Given>
void launch_rows(const char* name, const Units& units, const RowBlock& s, int64_t n, Given... given) {
  const int64_t total = s.outer * n * units.per_row;
  if (std::max(total, s.rows) <= kMaxCount)
    launch_rows<unsigned>(name, units, "unsigned", s, n, total, given...);
  else
    launch_rows<unsigned long long>(name, units, "unsigned long long", s, n, total, given...);
}

struct Numbers {
  const void* index;
  ScalarType type;
  const char* op = nullptr;  // who asks, if they are yet to be checked
};

template <class I>
void launch_take_long_rows(const Units& units, const char* index_type, const RowBlock& s, int64_t n, const void* from,
                           void* to, const Numbers& numbers) {
  const auto ceil_div = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t of_row = ceil_div(units.per_row, kTakeItems * kWarp), pieces = s.outer * n * of_row;
  const int64_t piece = ceil_div(ceil_div(units.per_row, of_row), kWarp) * kWarp;  // all of about the same size
  launch(kernel_instance(kHeader, "take_long_rows", units.type, index_type, numbers.type, kTakeItems),
         {blocks_for(pieces, kThreads / kWarp), kThreads}, from, to, numbers.index, static_cast<I>(n),
         static_cast<I>(s.rows), static_cast<I>(units.per_row), static_cast<I>(piece), static_cast<I>(of_row),
         static_cast<I>(pieces), numbers.op ? error_slot() : nullptr, numbers.op);
}

void take_long_rows(const Units& units, const RowBlock& s, int64_t n, const void* from, void* to,
                    const Numbers& numbers) {
  if (std::max(s.outer * n * units.per_row, s.rows) <= kMaxCount)
    launch_take_long_rows<unsigned>(units, "unsigned", s, n, from, to, numbers);
  else
    launch_take_long_rows<unsigned long long>(units, "unsigned long long", s, n, from, to, numbers);
}

void take_rows(const void* from, const RowBlock& s, int64_t item_size, const int64_t* index, int64_t n, void* to) {
  if (s.outer * n * s.inner == 0) return;
  const Units units = units_for(s.inner * item_size, from, to);
  if (units.per_row >= kWarp) return take_long_rows(units, s, n, from, to, {index, kLong});
  launch_rows("take_rows", units, s, n, from, to, index);
}

bool take_checked_rows(const char* op, const void* from, int64_t rows, int64_t row_bytes, const void* index,
                       ScalarType index_type, int64_t n, void* to) {
  if (rows == 0 || row_bytes == 0 || n == 0) return false;
  const Units units = units_for(row_bytes, from, to);
  if (units.per_row < kWarp) return false;
  take_long_rows(units, {1, rows, row_bytes}, n, from, to, {index, index_type, op});
  return true;
}

void put_rows(void* to, const RowBlock& s, int64_t item_size, const int64_t* index, int64_t n, const void* from) {
  if (s.outer * n * s.inner == 0) return;
  if (n > kMaxCount) throw NotOnDevice("2^31 indices or more");
  const bool alone = n == 1;
  const Scratch last(alone ? 0 : s.rows * static_cast<int64_t>(sizeof(int)));
  if (!alone) {
    fill_bytes(last.as<int>(), 0xff, static_cast<size_t>(s.rows) * sizeof(int));
    launch(kernel(kHeader, "last_of_equal"), {blocks_for(n, kThreads), kThreads}, index, static_cast<int>(n),
           last.as<int>());
  }
  launch_rows("put_rows", units_for(s.inner * item_size, from, to), s, n, to, from, index,
              static_cast<const int*>(last.as<int>()));
}

// `operation` names a struct of combine_rows.cuh.
void combine_rows(const char* header, const char* operation, void* to, const RowBlock& s, ScalarType type,
                  const int64_t* index, int64_t n, const void* from) {
  if (n > kMaxCount || s.rows > std::numeric_limits<uint32_t>::max())
    throw NotOnDevice("2^31 indices or more, or 2^32 rows or more");
  const int64_t columns = s.outer * s.inner, pieces = (n + kPiece - 1) / kPiece;
  const GroupedRows rows(index, n, s.rows);
  const int64_t sum_size = std::max<int64_t>(element_size(type), 4);
  const Scratch parts(pieces > 1 ? 2 * pieces * columns * sum_size : 0);
  Grid grid;
  grid.threads = static_cast<unsigned>(
      std::min<int64_t>(kColumnThreads, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(columns)))));
  grid.threads_y = kColumnThreads / grid.threads;
  grid.blocks = blocks_for(pieces, grid.threads_y);
  grid.blocks_y = static_cast<unsigned>(std::min<int64_t>((columns + grid.threads - 1) / grid.threads, 65535));
  const int count = static_cast<int>(n);
  launch(kernel_instance(header, "combine_sorted_rows", code_type(type), operation), grid, to, from, rows.keys(),
         rows.order(), count, s.rows, s.inner, columns, parts.as<void>());
  if (pieces > 1)
    launch(kernel_instance(header, "combine_row_parts", code_type(type), operation), grid, to, rows.keys(), count,
           s.rows, s.inner, columns, static_cast<const void*>(parts.as<void>()));
}

void add_rows(void* to, const RowBlock& given, ScalarType type, const int64_t* index, int64_t n, const void* from) {
  if (given.outer * n * given.inner == 0) return;
  if (given.outer * given.inner == 1 && adds_in_tiles(given.rows, type, n))
    return add_at_in_tiles(to, given.rows, type, index, n, from, nullptr);
  RowBlock s = given;
  if (is_complex(type)) {  // real and imaginary parts are columns of their own
    s.inner *= 2;
    type = to_real_type(type);
  }
  combine_rows(kSumHeader, "argand::Add", to, s, type, index, n, from);
}

void add_at(void* to, int64_t size, ScalarType type, const int64_t* slots, int64_t n, const void* from, int64_t* met) {
  if (n == 0) return;
  if (adds_in_tiles(size, type, n)) return add_at_in_tiles(to, size, type, slots, n, from, met);
  add_rows(to, {1, size, 1}, type, slots, n, from);
  if (met)
    launch(kernel("argand/kernels/cuda/add_at.cuh", "count_at"), {blocks_for(n, kThreads), kThreads}, slots, n, met);
}

void combine_at(Combine how, void* to, int64_t size, ScalarType type, const int64_t* slots, int64_t n,
                const void* from) {
  if (n == 0) return;
  if (how == Combine::kProduct)
    return combine_rows(kCombineHeader, "argand::Multiply", to, {1, size, 1}, type, slots, n, from);
  launch(kernel_instance(kCombineHeader, "extreme_at", type, how == Combine::kGreatest),
         {blocks_for(n, kThreads), kThreads}, to, slots, n, from);
}

const bool registered =
    (blocks::take_rows.set(kCUDA, take_rows), blocks::put_rows.set(kCUDA, put_rows),
     blocks::add_rows.set(kCUDA, add_rows), blocks::add_at.set(kCUDA, add_at),
     blocks::combine_at.set(kCUDA, combine_at), blocks::take_checked_rows.set(kCUDA, take_checked_rows), true);

}  // namespace
}  // namespace argand::cuda
