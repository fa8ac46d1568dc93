// Numbers of the host in a device's memory, without a wait: blocks::put_numbers.
#pragma once
#include <cstdint>

namespace argand {

// They travel with the launch: for lists of lengths and the like.  `numbers` may be gone when it returns.
using PutNumbers = void(const int64_t* numbers, int64_t n, int64_t* to);

// Longer lists are better copied.
constexpr int64_t kMostPutNumbers = 4096;

}  // namespace argand
