#include "argand/kernels/cuda/add_at.h"

#include <algorithm>
#include <bit>

#include "argand/kernels/cuda/add_at_shape.cuh"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/kernels/cuda/radix_sort.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/add_at.cuh";
constexpr int kThreads = 256;

int64_t ranges_of(int64_t size) { return (size + kPlaces - 1) >> kPlaceBits; }

// Positions in the order of their ranges.
struct ByRange {
  const void* positions;
  const char* type;
  const unsigned* order;  // where the elements are, or null: in `from`, in the order of the positions
  const void* from;
};

void add_tiles(const ByRange& e, void* to, int64_t size, ScalarType type, int64_t n, int64_t* met) {
  const int64_t ranges = ranges_of(size), tiles = n / kTileElements + ranges;  // or fewer
  const int64_t sums_of = tiles * kPlaces, number = static_cast<int64_t>(sizeof(unsigned));
  const Scratch begins((ranges + 1) * number), first_tiles((ranges + 1) * number), counts(sums_of * number),
      sums(sums_of * std::max<int64_t>(element_size(type), 4));
  const auto count = static_cast<unsigned>(n), cut = static_cast<unsigned>(ranges);
  launch(kernel_instance(kHeader, "find_ranges", e.type), {blocks_for(ranges + 1, kThreads), kThreads}, e.positions,
         count, cut, begins.as<unsigned>());
  launch(kernel(kHeader, "count_tiles"), {1, kCutThreads}, static_cast<const unsigned*>(begins.as<unsigned>()), cut,
         first_tiles.as<unsigned>());
  const Kernel add = kernel_instance(kHeader, "add_tiles", type, e.type);
  const size_t of_warps = kAddThreads / 32 * kPlaces * sizeof(uint64_t);
  const size_t bytes = std::max(of_warps, static_cast<size_t>(kTileElements * element_size(type)));
  add.allow_shared_memory(bytes);
  launch(add, {.blocks = blocks_for(tiles, 1), .threads = kAddThreads, .shared_memory = bytes}, e.positions, e.order,
         e.from, static_cast<const unsigned*>(begins.as<unsigned>()),
         static_cast<const unsigned*>(first_tiles.as<unsigned>()), cut, sums.data(), counts.as<unsigned>());
  launch(kernel_instance(kHeader, "add_tile_sums", type), {blocks_for(size, kThreads), kThreads},
         static_cast<const void*>(sums.data()), static_cast<const unsigned*>(counts.as<unsigned>()),
         static_cast<const unsigned*>(first_tiles.as<unsigned>()), size, to, met);
}

}  // namespace

bool adds_in_tiles(int64_t size, ScalarType type, int64_t n) {
  // With fewer elements a range the blocks have too little to do.
  const bool enough = n > kTileElements && n / static_cast<int64_t>(kPlaces) >= ranges_of(size);
  return !is_complex(type) && enough && n < int64_t{1} << 31;
}

void add_at_in_tiles(void* to, int64_t size, ScalarType type, const int64_t* slots, int64_t n, const void* from,
                     int64_t* met) {
  if (size <= kPlaces) return add_tiles({slots, "long long", nullptr, from}, to, size, type, n, met);
  const int bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(size - 1)));
  const Scratch memory(2 * n * static_cast<int64_t>(sizeof(unsigned)));
  unsigned *positions = memory.as<unsigned>(), *order = positions + n;
  // Elements of four bytes move along with their positions, others are found by their numbers.
  const bool along = element_size(type) == sizeof(unsigned);
  radix_sort(slots, along ? static_cast<const unsigned*>(from) : nullptr, n, kPlaceBits, bits - kPlaceBits, positions,
             order);
  add_tiles({positions, "unsigned", along ? nullptr : order, along ? order : from}, to, size, type, n, met);
}

}  // namespace argand::cuda
