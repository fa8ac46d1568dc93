// Elements that meet at one position: blocks::combine_at.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

enum class Combine { kProduct, kGreatest, kLeast };

// to[slots[k]] = what to[slots[k]] and from[k] make, for k < n and slots in [0, size).  A NaN makes a NaN.  Factors are
// multiplied in the order of k, those of float16 and bfloat16 in float32.  The result has the same bits at each call.
// REQUIRES of kGreatest and kLeast: a type with an order, of two bytes or more.
using CombineAt = void(Combine how, void* to, int64_t size, ScalarType type, const int64_t* slots, int64_t n,
                       const void* from);

}  // namespace argand
