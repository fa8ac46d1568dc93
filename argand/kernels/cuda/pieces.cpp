#include "argand/kernels/api/pieces.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

constexpr int kThreads = 256;

static_assert(sizeof(PieceTable) <= 4096, "what every kernel may have as arguments");

// The largest power of 2, up to 16, of which all addresses and sizes are multiples.
uint64_t unit_of(const Piece& p) {
  const uint64_t strides = p.rows > 1 ? static_cast<uint64_t>(p.to_stride | p.from_stride) : 0;
  const uint64_t bits = reinterpret_cast<uintptr_t>(p.to) | reinterpret_cast<uintptr_t>(p.from) |
                        static_cast<uint64_t>(p.row_bytes) | strides | 16;
  return bits & (~bits + 1);
}

void copy_pieces(const Piece* pieces, int64_t count) {
  PieceTable table{};
  uint64_t unit = 16, blocks = 0;
  bool small = true;  // numbers of units fit into an int
  const auto issue = [&] {
    constexpr const char* kUnits[] = {"unsigned char", "unsigned short", "unsigned", "unsigned long long",
                                      "Vec<unsigned long long, 2>"};
    launch(kernel_instance("argand/kernels/cuda/pieces.cuh", "copy_pieces", kUnits[std::countr_zero(unit)],
                           small ? "unsigned" : "unsigned long long"),
           {static_cast<unsigned>(blocks), kThreads}, table);
    table.count = 0;
    table.wide = 0;
    unit = 16;
    blocks = 0;
    small = true;
  };
  for (const Piece* p = pieces; p != pieces + count; ++p) {
    const int64_t nbytes = p->rows * p->row_bytes;
    if (nbytes == 0) continue;
    const uint64_t more = static_cast<uint64_t>((nbytes + kPieceTile - 1) / kPieceTile);
    if (table.count == kPiecesPerLaunch || blocks + more >= uint64_t{1} << 31) issue();
    const int i = table.count++;
    const uint64_t own = unit_of(*p);
    table.to[i] = p->to;
    table.from[i] = p->from;
    table.nbytes[i] = nbytes;
    table.row_bytes[i] = p->row_bytes;
    table.to_stride[i] = p->to_stride;
    table.from_stride[i] = p->from_stride;
    table.first_block[i] = static_cast<unsigned>(blocks);
    table.wide |= uint64_t{own == 16} << i;
    unit = std::min(unit, own);
    small = small && nbytes <= std::numeric_limits<int>::max();
    blocks += more;
  }
  if (table.count > 0) issue();
}

const bool registered = (blocks::copy_pieces.set(kCUDA, copy_pieces), true);

}  // namespace
}  // namespace argand::cuda
