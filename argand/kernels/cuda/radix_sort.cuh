// Long rows: a stable radix sort, 8 bits a pass, of elements and their positions.
//
// A row is cut into tiles.  A pass counts the digits of each tile, adds the counts up over the tiles of a row, and
// moves each element to the position given by its digit, its tile and its rank among equal digits there, through shared
// memory, so that neighbours in memory are written together.  Elements are moved unchanged: -0 and every NaN keep their
// bits, and only the digits come from keys.
#pragma once
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/sort_entries.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

template <class T>
struct RadixTile {
  static constexpr int kThreads = 512, kWarps = kThreads / kWarp, kDigits = 256;
  static constexpr int kItems = sizeof(T) <= 4 ? 16 : 8, kCount = kThreads * kItems;
};

template <class T>
__device__ __forceinline__ unsigned digit_of(T x, const RadixPass& p) {
  return (static_cast<unsigned>(sort_key(x) >> p.shift) & 255u) ^ p.flip;
}

// counts[row][tile][digit]; a block has a tile.  T is the sorted type, From the type that the first pass reads.
template <class T, class From>
__global__ void __launch_bounds__(RadixTile<T>::kThreads) count_digits(const From* in, RadixPass p, unsigned* counts) {
  await_earlier_work();
  using Tile = RadixTile<T>;
  // Lanes with one digit count it at different addresses, in different banks.
  constexpr int kCopies = 4, kCopySize = Tile::kDigits + 1;
  __shared__ unsigned count[kCopies * kCopySize];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < kCopies * kCopySize; i += Tile::kThreads) count[i] = 0;
  __syncthreads();
  const int64_t row = blockIdx.x / p.tiles, begin = int64_t{blockIdx.x % p.tiles} * Tile::kCount;
  const int held = static_cast<int>(p.n - begin < Tile::kCount ? p.n - begin : Tile::kCount);
  in += row * p.n + begin;
  T x[Tile::kItems];
#pragma unroll
  for (int j = 0; j < Tile::kItems; ++j)
    if (j * Tile::kThreads + t < held) x[j] = static_cast<T>(in[j * Tile::kThreads + t]);
#pragma unroll
  for (int j = 0; j < Tile::kItems; ++j)
    if (j * Tile::kThreads + t < held) atomicAdd(count + t % kCopies * kCopySize + digit_of(x[j], p), 1u);
  __syncthreads();
  if (t >= Tile::kDigits) return;
  unsigned sum = 0;
#pragma unroll
  for (int c = 0; c < kCopies; ++c) sum += count[c * kCopySize + t];
  counts[int64_t{blockIdx.x} * Tile::kDigits + t] = sum;
}

__device__ __forceinline__ uint4 operator+(uint4 a, uint4 b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }
__device__ __forceinline__ uint4 operator-(uint4 a, uint4 b) { return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w}; }

// Sums over the threads before this one; all threads of the block call it.
__device__ __forceinline__ uint4 block_sum_before(uint4 x) {
  __shared__ uint4 totals[kWarp];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const uint4 upto{warp_sum_upto(x.x), warp_sum_upto(x.y), warp_sum_upto(x.z), warp_sum_upto(x.w)};
  if (lane == kWarp - 1) totals[warp] = upto;
  __syncthreads();
  uint4 before = upto - x;
  for (unsigned w = 0; w < warp; ++w) before = before + totals[w];
  return before;
}

// counts[row][tile][digit] becomes the sum of those of the tiles before, and totals[row][digit] that of all.  A thread
// has four digits of a stretch of the tiles; a block has those of all tiles if kDigits / 4 of them make a row, else,
// with one stretch, all digits of a row.
template <int kDigits>
__global__ void __launch_bounds__(1024)
    start_digits(unsigned* counts, unsigned tiles, unsigned stretches, unsigned* totals) {
  await_earlier_work();
  constexpr unsigned kColumns = kDigits / 4;
  const bool by_column = stretches > 1;
  const int64_t row = by_column ? blockIdx.x / kColumns : blockIdx.x;
  const unsigned column = by_column ? blockIdx.x % kColumns : threadIdx.x, stretch = by_column ? threadIdx.x : 0;
  const unsigned each = (tiles + stretches - 1) / stretches;
  const unsigned begin = min(stretch * each, tiles), end = min(begin + each, tiles);
  auto* mine = reinterpret_cast<uint4*>(counts + row * tiles * kDigits) + column;
  uint4 sum{};
#pragma unroll 8
  for (unsigned tile = begin; tile < end; ++tile) sum = sum + mine[int64_t{tile} * kColumns];
  uint4 before{};
  if (by_column) before = block_sum_before(sum);
  if (stretch == stretches - 1) reinterpret_cast<uint4*>(totals + row * kDigits)[column] = before + sum;
#pragma unroll 8
  for (unsigned tile = begin; tile < end; ++tile) {
    uint4& count = mine[int64_t{tile} * kColumns];
    const uint4 here = count;
    count = before;
    before = before + here;
  }
}

// A warp's data of a digit: the lanes that have it now, and how many came before; later the position where these begin.
struct alignas(8) DigitOfWarp {
  unsigned lanes, count;
};

// How many elements of the warp's digit came before, in rows of elements before this one or in lanes before this one.
// All lanes of the warp call it; one that is not `there` has no element.
__device__ __forceinline__ unsigned rank_in_warp(DigitOfWarp* digits, unsigned digit, bool there = true) {
  const unsigned lane = threadIdx.x % kWarp;
  if (there) atomicOr(&digits[digit].lanes, 1u << lane);
  __syncwarp();
  const DigitOfWarp now = digits[digit];
  __syncwarp();
  const unsigned before = __popc(now.lanes & ((1u << lane) - 1));
  if (there && before == 0) digits[digit] = {0, now.count + __popc(now.lanes)};
  __syncwarp();
  return now.count + before;
}

// Sums over the threads before this one of the first 256, all of which call it; `partial` has kWarp elements.
__device__ __forceinline__ unsigned sum_before(unsigned x, unsigned* partial) {
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const unsigned upto = warp_sum_upto(x);
  if (lane == kWarp - 1) partial[warp] = upto;
  return upto - x;
}

// Moves a tile: the first `count` of each row to [rows, count], elements only if `out` is there.  `order` moves along
// with them; without it, in the first pass, the positions do.
template <class T, class From, class Index>
__global__ void __launch_bounds__(RadixTile<T>::kThreads, 2)
    move_by_digit(const From* in, const unsigned* order, RadixPass p, const unsigned* starts, const unsigned* totals,
                  T* out, Index* out_order, unsigned count) {
  await_earlier_work();
  using Tile = RadixTile<T>;
  constexpr int kDigits = Tile::kDigits, kItems = Tile::kItems, kThreads = Tile::kThreads;
  // The warps' digits, then the tile's elements in order and their positions.
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ unsigned moves[kDigits], partial[2][kWarp];
  static_assert(Tile::kCount * (sizeof(T) + sizeof(unsigned)) >= Tile::kWarps * kDigits * sizeof(DigitOfWarp));
  auto* digits = reinterpret_cast<DigitOfWarp*>(memory);
  auto* elements = reinterpret_cast<T*>(memory);
  auto* positions = reinterpret_cast<unsigned*>(elements + Tile::kCount);

  const int t = static_cast<int>(threadIdx.x), lane = t % kWarp, warp = t / kWarp;
  const int64_t row = blockIdx.x / p.tiles, begin = int64_t{blockIdx.x % p.tiles} * Tile::kCount;
  const int held = static_cast<int>(p.n - begin < Tile::kCount ? p.n - begin : Tile::kCount);
  in += row * p.n + begin;
  const int first = warp * kWarp * kItems + lane;  // of this thread, in the tile; then every 32nd
  T x[kItems];
#pragma unroll
  for (int j = 0; j < kItems; ++j) x[j] = first + j * kWarp < held ? static_cast<T>(in[first + j * kWarp]) : T{};
  unsigned row_total = 0, row_start = 0, start = 0;
  if (t < kDigits) {
    row_total = totals[row * kDigits + t];
    row_start = starts[int64_t{blockIdx.x} * kDigits + t];
  }
  for (int i = t; i < Tile::kWarps * kDigits; i += kThreads) digits[i] = {0, 0};
  __syncthreads();

  // The rank among the warp's equal digits, and the digit above it; then where in the tile it goes.  What is beyond the
  // row has the last digit and comes last.
  constexpr int kRankBits = 16;
  unsigned place[kItems];
  DigitOfWarp* my_digits = digits + warp * kDigits;
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const unsigned digit = first + j * kWarp < held ? digit_of(x[j], p) : kDigits - 1u;
    place[j] = (digit << kRankBits) + rank_in_warp(my_digits, digit);
  }
  __syncthreads();

  if (t < kDigits) {
    unsigned of_digit = 0;
#pragma unroll
    for (int w = 0; w < Tile::kWarps; ++w) of_digit += digits[w * kDigits + t].count;
    start = sum_before(of_digit, partial[0]);
    row_start += sum_before(row_total, partial[1]);
  }
  __syncthreads();
  if (t < kDigits) {
    for (int w = 0; w < warp; ++w) {
      start += partial[0][w];
      row_start += partial[1][w];
    }
    moves[t] = row_start - start;
#pragma unroll
    for (int w = 0; w < Tile::kWarps; ++w) {
      unsigned& counted = digits[w * kDigits + t].count;
      const unsigned here = counted;
      counted = start;
      start += here;
    }
  }
  __syncthreads();
  unsigned at[kItems];
#pragma unroll
  for (int j = 0; j < kItems; ++j) at[j] = static_cast<unsigned>(begin) + first + j * kWarp;
  if (order) {
    order += row * p.n;
#pragma unroll
    for (int j = 0; j < kItems; ++j)
      if (first + j * kWarp < held) at[j] = order[at[j]];
  }
#pragma unroll
  for (int j = 0; j < kItems; ++j)
    place[j] = (place[j] & ((1u << kRankBits) - 1)) + my_digits[place[j] >> kRankBits].count;
  __syncthreads();

#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    elements[place[j]] = x[j];
    positions[place[j]] = at[j];
  }
  __syncthreads();
  if (out) out += row * count;
  out_order += row * count;
  if (held == Tile::kCount && count >= p.n) {
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      const int i = j * kThreads + t;
      const T element = elements[i];
      const unsigned to = moves[digit_of(element, p)] + i;
      if (out) out[to] = element;
      out_order[to] = positions[i];
    }
  } else {
#pragma unroll 1
    for (int i = t; i < held; i += kThreads) {
      const T element = elements[i];
      const unsigned to = moves[digit_of(element, p)] + i;
      if (to >= count) continue;
      if (out) out[to] = element;
      out_order[to] = positions[i];
    }
  }
}

// ---- results from sorted rows

// The most frequent element of each sorted row, the smallest of several, with the last of its positions: a block each.
// `sorted` and `order` are [rows, n].
template <class T>
__global__ void __launch_bounds__(1024)
    mode_of_sorted(const T* sorted, const int64_t* order, int64_t n, T* values, int64_t* indices) {
  await_earlier_work();
  const T* row = sorted + blockIdx.x * n;
  uint64_t best = 0;  // how often, then (turned around) where the run ends
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const SortKey<T> key = sort_key(row[i]);
    const bool nan = kHasNan<T> && key == kNanKey<T>;  // equals nothing
    if (!nan && i + 1 < n && sort_key(row[i + 1]) == key) continue;
    int64_t begin = nan ? i : 0, end = i;  // the run's first element
    while (begin < end) {
      const int64_t middle = (begin + end) / 2;
      if (sort_key(row[middle]) == key)
        end = middle;
      else
        begin = middle + 1;
    }
    const uint64_t found =
        static_cast<uint64_t>(i - begin + 1) << 32 | static_cast<unsigned>(~static_cast<unsigned>(i));
    best = found > best ? found : best;
  }
  best = block_reduce(
      best, [](uint64_t a, uint64_t b) { return a > b ? a : b; }, uint64_t{0});
  if (threadIdx.x != 0) return;
  const unsigned at = ~static_cast<unsigned>(best);
  values[blockIdx.x] = row[at];
  indices[blockIdx.x] = order[blockIdx.x * n + at];
}

// By rank; a thread has a row.
template <class T, int kPick>
__global__ void pick_of_sorted(const T* sorted, const int64_t* order, int64_t rows, int64_t n, int64_t nth, T* values,
                               int64_t* indices) {
  await_earlier_work();
  const int64_t r = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const T* row = sorted + r * n;
  int64_t begin = 0, end = kHasNan<T> && kPick != kNth ? n : 0;
  while (begin < end) {
    const int64_t middle = (begin + end) / 2;
    if (sort_key(row[middle]) == kNanKey<T>)
      end = middle;
    else
      begin = middle + 1;
  }
  const int64_t at = rank_of(kPick, nth, n, kHasNan<T> && kPick != kNth ? n - begin : 0);
  values[r] = row[at];
  indices[r] = order[r * n + at];
}

}  // namespace argand
