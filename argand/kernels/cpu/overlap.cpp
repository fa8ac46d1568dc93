#include "argand/kernels/cpu/overlap.h"

#include <algorithm>
#include <type_traits>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/scratch.h"

namespace argand::cpu {
namespace {

// Coordinates one after the other, so that the comparison with all later boxes is vector code.
template <class A>
void keep(const A* boxes, int64_t n, A threshold, uint8_t* kept) {
  ScratchBuffer<A, 16384> memory(5 * n);
  A *x1 = memory.data(), *y1 = x1 + n, *x2 = y1 + n, *y2 = x2 + n, *area = y2 + n;
  for (int64_t i = 0; i < n; ++i) {
    const A* box = boxes + 4 * i;
    x1[i] = box[0], y1[i] = box[1], x2[i] = box[2], y2[i] = box[3];
    area[i] = (x2[i] - x1[i]) * (y2[i] - y1[i]);
    kept[i] = 1;
  }
  for (int64_t i = 0; i < n; ++i) {
    if (!kept[i]) continue;
    const A left = x1[i], top = y1[i], right = x2[i], bottom = y2[i], own = area[i];
    for (int64_t j = i + 1; j < n; ++j) {
      const A width = std::max(A(0), std::min(right, x2[j]) - std::max(left, x1[j]));
      const A height = std::max(A(0), std::min(bottom, y2[j]) - std::max(top, y1[j]));
      const A both = width * height;
      kept[j] = static_cast<uint8_t>(kept[j] & !(both / (own + area[j] - both) > threshold));
    }
  }
}

}  // namespace

void keep_apart(ScalarType type, const void* boxes, int64_t n, double threshold, uint8_t* kept) {
  dispatch<kFloatTypes>(type, "keep_apart", [&](auto tag) {
    using A = typename decltype(tag)::type;
    if constexpr (std::is_same_v<A, float>)
      keep(static_cast<const A*>(boxes), n, float_threshold(threshold), kept);
    else
      keep(static_cast<const A*>(boxes), n, threshold, kept);
  });
}

}  // namespace argand::cpu
