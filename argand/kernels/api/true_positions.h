// The positions at which a mask is true.
#pragma once
#include <cstdint>
#include <functional>

namespace argand {

// Positions i with mask[i] != 0, in order, to the memory that `allocate(how many)` gives; it is called once.  `mask` is
// of bool.  On a GPU it waits for the device, once.
using FindTruePositions = void(const void* mask, int64_t n, const std::function<int64_t*(int64_t count)>& allocate);

}  // namespace argand
