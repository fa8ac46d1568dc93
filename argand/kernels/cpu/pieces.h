// Copies of many pieces of memory.
#pragma once
#include "argand/kernels/api/pieces.h"

namespace argand::cpu {

CopyPieces copy_pieces;

}  // namespace argand::cpu
