#include "argand/kernels/cuda/transposed_copy.h"

#include <algorithm>
#include <bit>

#include "argand/kernels/cuda/kernel_source.h"
#include "argand/kernels/cuda/transpose_shape.cuh"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/transposed_copy.cuh";
constexpr int kThreads = 256;
constexpr int64_t kLimit = int64_t{1} << 31;

struct Copy {
  const ProgramValue *in, *out;
  ScalarType compute;
};

bool is_copy(const PointwiseProgram& p, Copy& copy) {
  if (p.steps.size() != 1 || p.values.size() != 2) return false;
  const ProgramStep& step = p.steps[0];
  if (step.body->kind != BodyKind::kIdentity) return false;
  copy = {&p.values[step.ins[0]], &p.values[step.out], step.compute};
  return copy.in != copy.out && copy.in->load && copy.in->memory && !copy.in->number && copy.out->store;
}

struct Types {
  std::string in, compute, out;
  int64_t size;  // of the larger one
};
Types types_of(const Copy& c) {
  const int64_t in = element_size(c.in->dtype), out = element_size(c.out->dtype);
  if (c.in->dtype != c.out->dtype)
    return {device_type_name(c.in->dtype), device_type_name(c.compute), device_type_name(c.out->dtype),
            std::max(in, out)};
  constexpr const char* kUnits[] = {"unsigned char", "unsigned short", "unsigned", "unsigned long long",
                                    "argand::Vec<unsigned long long, 2>"};
  const char* unit = kUnits[std::countr_zero(static_cast<uint64_t>(in))];
  return {unit, unit, unit, in};
}

// Rows and columns of a tile, and how many elements are moved as one.
struct Tile {
  int rows, columns, width;
};

int64_t tiles_of(int64_t n, int tile) { return (n + tile - 1) / tile; }

Tile tile_of(const TransposeShape& s, const Copy& c, int64_t size) {
  const int side = size == 1 ? 128 : size <= 4 ? 64 : 32;
  const auto fit = [side](int64_t n) {
    return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(n, 2, side))));
  };
  if (const int columns = fit(s.columns); columns < side) return {side * side / columns, columns, 1};
  if (const int rows = fit(s.rows); rows < side) return {rows, side * side / rows, 1};
  const auto aligned = [&](int64_t width) {
    int64_t together = s.rows | s.columns | s.in_stride | s.out_stride;
    for (int d = 0; d < s.batch_dims; ++d) together |= s.batch[d].in_stride | s.batch[d].out_stride;
    return together % width == 0 &&
           reinterpret_cast<uintptr_t>(s.in) % static_cast<uint64_t>(width * element_size(c.in->dtype)) == 0 &&
           reinterpret_cast<uintptr_t>(s.out) % static_cast<uint64_t>(width * element_size(c.out->dtype)) == 0;
  };
  int width = size == 1 ? 4 : size <= 4 ? 2 : 1;
  while (width > 1 && !aligned(width)) width /= 2;
  // The quickest of those measured on an H200; lines to store count more than lines to load.
  if (size == 1) return {64, 128, width};
  if (size == 4) return width == 2 ? Tile{128, 64, width} : Tile{64, 32, width};
  return {side, side, width};
}

}  // namespace

bool transposed_copy(const PointwiseProgram& p) {
  Copy c{};
  if (!is_copy(p, c) || p.sizes.size() < 2) return false;
  const Dims &in = c.in->strides, &out = c.out->strides;
  const size_t last = p.sizes.size() - 1;
  // After collapsing, `last` is where the output is densest.
  if (out[last] != 1 || in[last] <= 1) return false;
  const auto dense = static_cast<size_t>(std::find(in.begin(), in.end(), 1) - in.begin());
  if (dense == in.size()) return false;
  if (is_complex(c.in->dtype) != is_complex(c.out->dtype) || (is_complex(c.in->dtype) && c.in->dtype != c.out->dtype) ||
      p.sizes.size() > TransposeShape::kMaxDims + 2)
    return false;

  TransposeShape s{};
  s.in = c.in->memory;
  s.out = c.out->memory;
  s.rows = p.sizes[last];
  s.columns = p.sizes[dense];
  s.in_stride = in[last];
  s.out_stride = out[dense];
  int64_t matrices = 1;
  for (size_t d = 0; d < p.sizes.size(); ++d) {
    if (p.sizes[d] >= kLimit) return false;
    if (d == last || d == dense) continue;
    s.batch[s.batch_dims++] = {fast_div(static_cast<unsigned>(p.sizes[d])), in[d], out[d]};
    matrices *= p.sizes[d];
  }
  const Types types = types_of(c);
  const Tile tile = tile_of(s, c, types.size);
  // Tiles that would be nearly empty: neighbours of one are in cache anyway.
  if (s.rows * s.columns < tile.rows * tile.columns / 8) return false;
  const int64_t row_tiles = tiles_of(s.rows, tile.rows), column_tiles = tiles_of(s.columns, tile.columns);
  s.row_tiles = fast_div(static_cast<unsigned>(row_tiles));
  s.column_tiles = fast_div(static_cast<unsigned>(column_tiles));
  if (matrices >= kLimit / (row_tiles * column_tiles)) return false;
  const bool small =
      tile.rows * s.in_stride + tile.columns < kLimit && tile.columns * s.out_stride + tile.rows < kLimit;
  launch(kernel(kHeader, instance("transposed_copy", types.in.c_str(), types.compute.c_str(), types.out.c_str(),
                                  tile.width, tile.rows, tile.columns, small ? "unsigned" : "unsigned long long")),
         {blocks_for(matrices * row_tiles * column_tiles, 1), kThreads}, s);
  return true;
}

}  // namespace argand::cuda
