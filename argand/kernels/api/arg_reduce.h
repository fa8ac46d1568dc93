// The largest or smallest element along one dimension, and where it is.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

// `in` is contiguous [outer, n, inner] of any real dtype, n >= 1; indices [outer, inner].  Takes the first of equal
// elements, and the first NaN if there is one.  Stores the elements in `values`, unless it is null.
using RunArgExtreme = void(bool largest, const void* in, ScalarType type, int64_t outer, int64_t n, int64_t inner,
                           int64_t* indices, void* values);

}  // namespace argand
