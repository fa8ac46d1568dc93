// Sums of the elements that meet at one position, and how many they are, by tiles (kernels/cuda/add_at.h).
//
// Positions are numbers below `size`; kPlaces neighbouring ones make a range.  Elements come sorted by range.  Those of
// a range are cut into tiles, and a block puts the elements of a tile in order by position, in shared memory, and adds
// up those of each position.  The sums of the tiles of a range are added in order at the end.
#pragma once
#include "argand/kernels/cuda/add_at_shape.cuh"
#include "argand/kernels/cuda/radix_sort.cuh"

namespace argand {

// Integers are added modulo 2^32 or 2^64.
template <class T, bool = kHasFractions<T>>
struct SumType {
  using type = op_math_t<T>;
};
template <class T>
struct SumType<T, false> {
  using type = typename UnsignedOfSize<sizeof(T) == 8 ? 8 : 4>::type;
};
template <class T>
using sum_t = typename SumType<T>::type;

// begins[r], where the elements of range r begin, and n after the last range: a thread searches for each.
template <class Key>
__global__ void find_ranges(const Key* positions, unsigned n, unsigned ranges, unsigned* begins) {
  await_earlier_work();
  const unsigned range = blockIdx.x * blockDim.x + threadIdx.x;
  if (range > ranges) return;
  unsigned begin = range < ranges ? 0 : n, end = n;
  while (begin < end) {
    const unsigned middle = begin + (end - begin) / 2;
    if (static_cast<unsigned>(positions[middle]) >> kPlaceBits < range)
      begin = middle + 1;
    else
      end = middle;
  }
  begins[range] = begin;
}

// first_tiles[r], the number of the first tile of range r, and that of all tiles after the last range.  One block,
// whose threads have a stretch of ranges each.
__global__ void __launch_bounds__(kCutThreads)
    count_tiles(const unsigned* begins, unsigned ranges, unsigned* first_tiles) {
  await_earlier_work();
  __shared__ unsigned of_warps[kCutThreads / kWarp];
  const unsigned t = threadIdx.x, each = (ranges + kCutThreads - 1) / kCutThreads;
  const unsigned begin = min(t * each, ranges), end = min(begin + each, ranges);
  const auto tiles_of = [&](unsigned r) { return (begins[r + 1] - begins[r] + kTileElements - 1) / kTileElements; };
  unsigned tiles = 0;
  for (unsigned r = begin; r < end; ++r) tiles += tiles_of(r);
  const unsigned upto = warp_sum_upto(tiles);
  if (t % kWarp == kWarp - 1) of_warps[t / kWarp] = upto;
  __syncthreads();
  unsigned before = upto - tiles;
  for (unsigned w = 0; w < t / kWarp; ++w) before += of_warps[w];
  if (t == kCutThreads - 1) first_tiles[ranges] = before + tiles;
  for (unsigned r = begin; r < end; ++r) {
    first_tiles[r] = before;
    before += tiles_of(r);
  }
}

// The sum of values[begin], ..., values[end - 1], in an order that depends on their number only.  All lanes of the warp
// call it, each for values of its own; the lanes add up many together.
template <class T>
__device__ __forceinline__ sum_t<T> sum_of_run(const T* values, unsigned begin, unsigned end) {
  using A = sum_t<T>;
  constexpr unsigned kMany = 64;
  const unsigned lane = threadIdx.x % kWarp;
  const bool many = end - begin > kMany;
  A sum = 0;
  if (!many)
    for (unsigned i = begin; i < end; ++i) sum += convert<A>(values[i]);
  for (unsigned left = __ballot_sync(0xffffffffu, many); left != 0; left &= left - 1) {
    const int whose = __ffs(int(left)) - 1;
    const unsigned from = __shfl_sync(0xffffffffu, begin, whose), to = __shfl_sync(0xffffffffu, end, whose);
    A part = 0;
    for (unsigned i = from + lane; i < to; i += kWarp) part += convert<A>(values[i]);
    part = warp_reduce(part, Add());
    if (lane == unsigned(whose)) sum = part;
  }
  return sum;
}

// sums[tile][place] and counts[tile][place] of each tile; a block has a tile.  The element of positions[i] is
// from[order[i]], or from[i] without `order`.  Shared memory: kTileElements elements, or what the warps' places take.
template <class T, class Key>
__global__ void __launch_bounds__(kAddThreads, 2)
    add_tiles(const Key* positions, const unsigned* order, const T* from, const unsigned* begins,
              const unsigned* first_tiles, unsigned ranges, sum_t<T>* sums, unsigned* counts) {
  await_earlier_work();
  constexpr int kItems = kTileElements / kAddThreads, kWarps = kAddThreads / kWarp, kEach = kPlaces / kAddThreads;
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ unsigned starts[kPlaces + 1], of_warps[kWarps];
  const int t = int(threadIdx.x), lane = t % kWarp, warp = t / kWarp;
  const unsigned tile = blockIdx.x;
  if (tile >= first_tiles[ranges]) return;
  unsigned range = 0;  // the last one whose first tile is not behind this one; it has tiles
  for (unsigned end = ranges; end - range > 1;) {
    const unsigned middle = range + (end - range) / 2;
    (first_tiles[middle] <= tile ? range : end) = middle;
  }
  const unsigned begin = begins[range] + (tile - first_tiles[range]) * kTileElements;
  const unsigned left = begins[range + 1] - begin, held = left < kTileElements ? left : kTileElements;

  // A thread has `each` elements of the tile: the one at `first`, and then every 32nd.  All warps have equally many.
  const unsigned each = (held + kAddThreads - 1) / kAddThreads, first = warp * kWarp * each + lane;
  const auto has = [&](int j) { return j < int(each) && first + j * kWarp < held; };
  unsigned place[kItems];
#pragma unroll
  for (int j = 0; j < kItems; ++j)
    place[j] = has(j) ? static_cast<unsigned>(positions[begin + first + j * kWarp]) % kPlaces : 0;
  auto* of_places = reinterpret_cast<DigitOfWarp*>(memory);  // [warp][place]
  for (int i = t; i < kWarps * kPlaces; i += kAddThreads) of_places[i] = {0, 0};
  __syncthreads();
  // The place, and the rank among the warp's elements of that place.
  constexpr int kRankBits = 16;
#pragma unroll
  for (int j = 0; j < kItems; ++j)
    if (j < int(each)) place[j] |= rank_in_warp(of_places + warp * kPlaces, place[j], has(j)) << kRankBits;
  __syncthreads();
  // Where the elements of a place begin in the tile, and in that stretch those of each warp.
  unsigned of_thread = 0;
#pragma unroll
  for (int e = 0; e < kEach; ++e)
#pragma unroll
    for (int w = 0; w < kWarps; ++w) of_thread += of_places[w * kPlaces + t * kEach + e].count;
  const unsigned upto = warp_sum_upto(of_thread);
  if (lane == kWarp - 1) of_warps[warp] = upto;
  __syncthreads();
  unsigned at = upto - of_thread;
  for (int w = 0; w < warp; ++w) at += of_warps[w];
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    starts[t * kEach + e] = at;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      unsigned& count = of_places[w * kPlaces + t * kEach + e].count;
      const unsigned here = count;
      count = at;
      at += here;
    }
  }
  if (t == 0) starts[kPlaces] = held;
  __syncthreads();
#pragma unroll
  for (int j = 0; j < kItems; ++j)
    place[j] = (place[j] >> kRankBits) + of_places[warp * kPlaces + (place[j] & ((1u << kRankBits) - 1))].count;
  T x[kItems];
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const unsigned i = begin + first + j * kWarp;
    if (has(j)) x[j] = from[order ? order[i] : i];
  }
  __syncthreads();  // nobody needs the warps' places
  auto* values = reinterpret_cast<T*>(memory);
#pragma unroll
  for (int j = 0; j < kItems; ++j)
    if (has(j)) values[place[j]] = x[j];
  __syncthreads();
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const unsigned p = unsigned(t + e * kAddThreads);
    const int64_t to = int64_t{tile} * kPlaces + p;
    sums[to] = sum_of_run(values, starts[p], starts[p + 1]);
    counts[to] = starts[p + 1] - starts[p];
  }
}

// Adds the sums of all tiles to `to`, and what they counted to `met`, if it is there; a thread has a position.
template <class T>
__global__ void add_tile_sums(const sum_t<T>* sums, const unsigned* counts, const unsigned* first_tiles, int64_t size,
                              T* to, int64_t* met) {
  await_earlier_work();
  const int64_t position = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (position >= size) return;
  const unsigned range = unsigned(position >> kPlaceBits), place = unsigned(position) % kPlaces;
  sum_t<T> sum = 0;
  int64_t count = 0;
  const unsigned end = first_tiles[range + 1];
#pragma unroll 4
  for (unsigned tile = first_tiles[range]; tile < end; ++tile) {
    sum += sums[int64_t{tile} * kPlaces + place];
    count += counts[int64_t{tile} * kPlaces + place];
  }
  if (count == 0) return;  // what is there keeps its bits
  to[position] = convert<T>(convert<sum_t<T>>(to[position]) + sum);
  if (met) met[position] += count;
}

// met[slots[k]] += 1 for each k: whole numbers, whose sum does not depend on the order.
__global__ void count_at(const int64_t* slots, int64_t n, uint64_t* met) {
  await_earlier_work();
  const int64_t k = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (k < n) atomicAdd(met + slots[k], uint64_t{1});
}

}  // namespace argand
