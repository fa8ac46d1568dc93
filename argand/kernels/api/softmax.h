// softmax and log_softmax along the middle dimension of contiguous [outer, n, inner] tensors, and their gradients.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

struct SoftmaxShape {
  int64_t outer, n, inner;
};

// type: any floating one; float16 and bfloat16 compute in float32.
using RunSoftmax = void(bool log, const void* in, void* out, ScalarType type, const SoftmaxShape& shape);

// `result` is the result of softmax(), `grad` its gradient.
using RunSoftmaxBackward = void(bool log, const void* grad, const void* result, void* out, ScalarType type,
                                const SoftmaxShape& shape);

}  // namespace argand
