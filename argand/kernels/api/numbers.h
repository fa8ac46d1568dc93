// Puts numbers of the host into a device's memory without waiting: blocks::put_numbers.
#pragma once
#include <cstdint>

namespace argand {

// The numbers are arguments of a kernel launch: for lists of lengths and the like.  `numbers` may be freed on return.
using PutNumbers = void(const int64_t* numbers, int64_t n, int64_t* to);

// Copy longer lists.
constexpr int64_t kMostPutNumbers = 4096;

}  // namespace argand
