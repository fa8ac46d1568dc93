#include "argand/kernels/cpu/true_positions.h"

namespace argand::cpu {

void true_positions(const void* mask, int64_t n, const std::function<int64_t*(int64_t count)>& allocate) {
  const auto* p = static_cast<const uint8_t*>(mask);
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += p[i] != 0;
  int64_t* to = allocate(count);
  for (int64_t i = 0; i < n; ++i)
    if (p[i]) *to++ = i;
}

}  // namespace argand::cpu
