// The passes of batch normalisation over a contiguous [n, channels, inner] tensor: statistics of each channel over n
// and inner, and maps whose coefficients are those of the channel.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

// Arrays with one value per channel are of the arithmetic type: float for float16 and bfloat16.
struct ChannelPass {
  ScalarType type;  // of elements: any floating one
  int64_t n, channels, inner;
};

// The mean and the (biased) variance of each channel.  REQUIRES n * inner > 0.
using RunChannelMoments = void(const ChannelPass& call, const void* x, void* mean, void* variance);

// y = (x - center) * scale + shift; `shift` may be null.
using RunChannelScale = void(const ChannelPass& call, const void* x, const void* center, const void* scale,
                             const void* shift, void* y);

// The sums of g and of g * (x - center) of each channel.
using RunChannelProducts = void(const ChannelPass& call, const void* g, const void* x, const void* center, void* sum,
                                void* product);

// out = g * scale + (x - center) * slope + shift; `slope` and `shift` may both be null.
using RunChannelGradient = void(const ChannelPass& call, const void* g, const void* x, const void* center,
                                const void* scale, const void* slope, const void* shift, void* out);

}  // namespace argand
