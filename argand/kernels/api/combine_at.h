// Elements that meet at one position: blocks::combine_at and blocks::add_at.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

enum class Combine { kProduct, kGreatest, kLeast };

// Combines from[k] with to[slots[k]], which becomes the result, for all k < n; slots are in [0, size).  A NaN gives
// NaN. Factors are multiplied in the order of k, those of float16 and bfloat16 in float32.  Every call gives the same
// bits. REQUIRES for kGreatest and kLeast: a type with an order and of at least two bytes.
using CombineAt = void(Combine how, void* to, int64_t size, ScalarType type, const int64_t* slots, int64_t n,
                       const void* from);

// to[slots[k]] += from[k] for all k < n, in an order that is the same in every call, and met[slots[k]] += 1, unless
// `met` is null.  Slots are in [0, size).
using AddAt = void(void* to, int64_t size, ScalarType type, const int64_t* slots, int64_t n, const void* from,
                   int64_t* met);

}  // namespace argand
