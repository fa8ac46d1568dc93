#include "argand/kernels/cpu/triangle.h"

#include <algorithm>
#include <cstring>

namespace argand::cpu {

void zero_outside(void* matrices, const Matrices& shape, int64_t item_size, int64_t diagonal, bool lower) {
  auto* p = static_cast<char*>(matrices);
  const int64_t columns = shape.columns, all_rows = columns == 0 ? 0 : shape.count * shape.rows;
  for (int64_t r = 0; r < all_rows; ++r, p += columns * item_size) {
    const int64_t edge = std::clamp<int64_t>(r % shape.rows + diagonal + (lower ? 1 : 0), 0, columns);
    if (lower)
      std::memset(p + edge * item_size, 0, static_cast<size_t>((columns - edge) * item_size));
    else
      std::memset(p, 0, static_cast<size_t>(edge * item_size));
  }
}

}  // namespace argand::cpu
