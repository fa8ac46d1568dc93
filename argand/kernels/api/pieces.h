// Copies of many pieces of memory in one launch: blocks::copy_pieces.
#pragma once
#include <cstdint>

namespace argand {

// `rows` rows of `row_bytes` contiguous bytes; the strides are in bytes, from the begin of a row to that of the next.
struct Piece {
  void* to;
  const void* from;
  int64_t rows, row_bytes, to_stride, from_stride;
};
// No byte that a piece writes is read or written by another piece, or read by its own.
using CopyPieces = void(const Piece* pieces, int64_t count);

}  // namespace argand
