#include "argand/kernels/cpu/pieces.h"

#include <algorithm>
#include <cstring>

#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

constexpr int64_t kGrainBytes = 1 << 18;

// The bytes [begin, end) of the piece, counted without the gaps between rows.
void copy_range(const Piece& p, int64_t begin, int64_t end) {
  auto* const to = static_cast<char*>(p.to);
  const auto* const from = static_cast<const char*>(p.from);
  int64_t row = begin / p.row_bytes, column = begin - row * p.row_bytes;
  for (int64_t left = end - begin; left > 0; ++row, column = 0) {
    const int64_t nbytes = std::min(p.row_bytes - column, left);
    std::memcpy(to + row * p.to_stride + column, from + row * p.from_stride + column, static_cast<size_t>(nbytes));
    left -= nbytes;
  }
}

}  // namespace

void copy_pieces(const Piece* pieces, int64_t count) {
  for (const Piece* p = pieces; p != pieces + count; ++p)
    if (const int64_t nbytes = p->rows * p->row_bytes; nbytes > 0)
      parallel_for(0, nbytes, kGrainBytes, [p](int64_t begin, int64_t end) { copy_range(*p, begin, end); });
}

}  // namespace argand::cpu
