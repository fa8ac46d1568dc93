// Long rows: a stable radix sort, 8 bits a pass, of elements and their positions.
//
// A row is cut into tiles.  A pass counts the digits of each tile, adds the counts up over the tiles of a row, and
// moves each element to the place that its digit, its tile and its rank among equals there say, by way of shared
// memory, so that neighbours in memory are written together.  What moves is the elements as they are: -0 and every NaN
// keep their bits, and only digits are taken from keys.
#pragma once
#include "argand/kernels/cuda/sort_entries.cuh"

namespace argand {

template <class T>
struct RadixTile {
  static constexpr int kThreads = 512, kWarps = kThreads / kWarp, kDigits = 256;
  static constexpr int kItems = sizeof(T) <= 4 ? 16 : 8, kCount = kThreads * kItems;
};

// As in radix_sort.cpp.
struct RadixPass {
  int64_t n;  // elements of a row
  unsigned tiles;
  int shift;
  bool descending;
};

template <class T>
__device__ __forceinline__ unsigned digit_of(T x, const RadixPass& p) {
  return static_cast<unsigned>(sort_key(x, p.descending) >> p.shift) & 255u;
}

// counts[row][tile][digit]; a block has a tile.
template <class T>
__global__ void __launch_bounds__(RadixTile<T>::kThreads) count_digits(const T* in, RadixPass p, unsigned* counts) {
  using Tile = RadixTile<T>;
  // Lanes with one digit count it at different addresses, in different banks.
  constexpr int kCopies = 4, kCopySize = Tile::kDigits + 1;
  __shared__ unsigned count[kCopies * kCopySize];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < kCopies * kCopySize; i += Tile::kThreads) count[i] = 0;
  __syncthreads();
  const int64_t row = blockIdx.x / p.tiles, begin = int64_t{blockIdx.x % p.tiles} * Tile::kCount;
  T x[Tile::kItems];
#pragma unroll
  for (int j = 0; j < Tile::kItems; ++j) {
    const int64_t at = begin + j * Tile::kThreads + t;
    if (at < p.n) x[j] = in[row * p.n + at];
  }
#pragma unroll
  for (int j = 0; j < Tile::kItems; ++j)
    if (begin + j * Tile::kThreads + t < p.n) atomicAdd(count + t % kCopies * kCopySize + digit_of(x[j], p), 1u);
  __syncthreads();
  if (t >= Tile::kDigits) return;
  unsigned sum = 0;
#pragma unroll
  for (int c = 0; c < kCopies; ++c) sum += count[c * kCopySize + t];
  counts[int64_t{blockIdx.x} * Tile::kDigits + t] = sum;
}

// counts[row][tile][digit] becomes the sum of those of the tiles before, and totals[row][digit] that of all.  A block
// has blockDim.x digits of a row, each of them blockDim.y threads with a stretch of the tiles.
template <int kDigits>
__global__ void __launch_bounds__(1024) start_digits(unsigned* counts, unsigned tiles, unsigned* totals) {
  __shared__ unsigned sums[1024];
  const unsigned groups = kDigits / blockDim.x;
  const int64_t row = blockIdx.x / groups;
  const unsigned digit = blockIdx.x % groups * blockDim.x + threadIdx.x;
  const unsigned each = (tiles + blockDim.y - 1) / blockDim.y;
  const unsigned begin = min(threadIdx.y * each, tiles), end = min(begin + each, tiles);
  unsigned* mine = counts + row * tiles * kDigits + digit;
  unsigned sum = 0;
#pragma unroll 8
  for (unsigned tile = begin; tile < end; ++tile) sum += mine[int64_t{tile} * kDigits];
  sums[threadIdx.y * blockDim.x + threadIdx.x] = sum;
  __syncthreads();
  unsigned before = 0;
  for (unsigned y = 0; y < threadIdx.y; ++y) before += sums[y * blockDim.x + threadIdx.x];
  if (threadIdx.y == blockDim.y - 1) totals[row * kDigits + digit] = before + sum;
#pragma unroll 4
  for (unsigned tile = begin; tile < end; ++tile) {
    unsigned& count = mine[int64_t{tile} * kDigits];
    const unsigned here = count;
    count = before;
    before += here;
  }
}

// The lanes that hold the same digit, of those that are `valid`.
__device__ __forceinline__ unsigned lanes_with(unsigned digit, bool valid) {
  unsigned lanes = __ballot_sync(0xffffffffu, valid);
#pragma unroll
  for (int b = 0; b < 8; ++b) {
    const bool bit = digit >> b & 1;
    const unsigned set = __ballot_sync(0xffffffffu, bit);
    lanes &= bit ? set : ~set;
  }
  return lanes;
}

// Sums over the threads before this one of the first 256, all of which call it; `partial` has kWarp elements.
__device__ __forceinline__ unsigned sum_before(unsigned x, unsigned* partial) {
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const unsigned upto = warp_sum_upto(x);
  if (lane == kWarp - 1) partial[warp] = upto;
  return upto - x;
}

// Moves a tile: the first `count` of each row to [rows, count], elements only if `out` is there.  Without `order`, in
// the first pass, it makes the positions; to `indices` it writes them in the last one.
template <class T>
__global__ void __launch_bounds__(RadixTile<T>::kThreads, 2)
    move_by_digit(const T* in, const unsigned* order, RadixPass p, const unsigned* starts, const unsigned* totals,
                  T* out, unsigned* out_order, int64_t* indices, int64_t count) {
  using Tile = RadixTile<T>;
  constexpr int kDigits = Tile::kDigits, kItems = Tile::kItems, kThreads = Tile::kThreads;
  // Counts of the digits a warp met so far, then the tile's elements in order, then their positions.
  alignas(16) __shared__ unsigned char memory[Tile::kCount * (sizeof(T) < 4 ? 4 : sizeof(T))];
  __shared__ unsigned local_start[kDigits], moves[kDigits], partial[2][kWarp];
  static_assert(sizeof(memory) >= Tile::kWarps * kDigits * sizeof(unsigned));
  auto* warp_counts = reinterpret_cast<unsigned*>(memory);
  auto* elements = reinterpret_cast<T*>(memory);
  auto* positions = reinterpret_cast<unsigned*>(memory);

  const int t = static_cast<int>(threadIdx.x), lane = t % kWarp, warp = t / kWarp;
  const int64_t row = blockIdx.x / p.tiles, begin = int64_t{blockIdx.x % p.tiles} * Tile::kCount;
  const int held = static_cast<int>(p.n - begin < Tile::kCount ? p.n - begin : Tile::kCount);
  in += row * p.n + begin;
  const int first = warp * kWarp * kItems + lane;  // of this thread, in the tile; then every 32nd
  T x[kItems];
#pragma unroll
  for (int j = 0; j < kItems; ++j)
    if (first + j * kWarp < held) x[j] = in[first + j * kWarp];
  for (int i = t; i < Tile::kWarps * kDigits; i += kThreads) warp_counts[i] = 0;
  __syncthreads();

  unsigned place[kItems];  // first the rank among the warp's equal digits, then where in the tile it goes
  unsigned* my_counts = warp_counts + warp * kDigits;
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const bool valid = first + j * kWarp < held;
    const unsigned digit = valid ? digit_of(x[j], p) : 0u;
    const unsigned equal = lanes_with(digit, valid), before = __popc(equal & ((1u << lane) - 1));
    const unsigned met = my_counts[digit];
    __syncwarp();
    if (valid && before == 0) my_counts[digit] = met + __popc(equal);
    __syncwarp();
    place[j] = met + before;
  }
  __syncthreads();

  unsigned of_digit = 0, start = 0, row_total = 0, row_start = 0;
  if (t < kDigits) {
    for (int w = 0; w < Tile::kWarps; ++w) {
      const unsigned here = warp_counts[w * kDigits + t];
      warp_counts[w * kDigits + t] = of_digit;
      of_digit += here;
    }
    row_total = totals[row * kDigits + t];
    start = sum_before(of_digit, partial[0]);
    row_start = sum_before(row_total, partial[1]);
  }
  __syncthreads();
  if (t < kDigits) {
    for (int w = 0; w < warp; ++w) {
      start += partial[0][w];
      row_start += partial[1][w];
    }
    local_start[t] = start;
    moves[t] = row_start + starts[int64_t{blockIdx.x} * kDigits + t] - start;
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < kItems; ++j)
    if (first + j * kWarp < held) {
      const unsigned digit = digit_of(x[j], p);
      place[j] += local_start[digit] + my_counts[digit];
    }
  __syncthreads();

#pragma unroll
  for (int j = 0; j < kItems; ++j)
    if (first + j * kWarp < held) elements[place[j]] = x[j];
  __syncthreads();
  unsigned to[kItems];
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const int at = j * kThreads + t;
    if (at >= held) continue;
    const T element = elements[at];
    to[j] = moves[digit_of(element, p)] + at;
    if (out && to[j] < count) out[row * count + to[j]] = element;
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const int at = first + j * kWarp;
    if (at < held) positions[place[j]] = order ? order[row * p.n + begin + at] : static_cast<unsigned>(begin + at);
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const int at = j * kThreads + t;
    if (at >= held) continue;
    if (to[j] >= count) continue;
    if (indices)
      indices[row * count + to[j]] = positions[at];
    else
      out_order[row * count + to[j]] = positions[at];
  }
}

// ---- what sorted rows say

// The most frequent element of each sorted row, the smallest of several, with the last of its positions: a block each.
// `sorted` and `order` are [rows, n].
template <class T>
__global__ void __launch_bounds__(1024)
    mode_of_sorted(const T* sorted, const int64_t* order, int64_t n, T* values, int64_t* indices) {
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
