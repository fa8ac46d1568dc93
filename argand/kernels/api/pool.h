// Pooling over the last three dimensions of contiguous planes; fewer spatial dimensions have leading sizes of one.  The
// channels may lie last where pools_take_channels_last().
#pragma once
#include <array>
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

struct PoolShape {
  int64_t planes = 0;
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, padding{0, 0, 0},
      dilation{1, 1, 1};
  int64_t channels = 0;  // not 0: planes lie [planes / channels, spatial..., channels]
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
};

// Whether pooling reads such a tensor in its channels-last layout.
using PoolsTakeChannelsLast = bool(const PoolShape& s);

// Positions within input planes, one for each output: int64 for users.  Positions that only the backward op reads are
// int16 if planes are small enough: with int64 and 2 x 2 windows, half of the memory traffic would be positions.
struct Positions {
  void* data;
  ScalarType dtype;
};
struct ConstPositions {
  const void* data;
  ScalarType dtype;
};

// y = max over each window, `positions` = where it is (the first of equals; the last NaN wins over all).
using RunMaxPool = void(const PoolShape& s, ScalarType dtype, const void* x, void* y, const Positions& positions);
// grad_x = sum of grad_y at `positions`, zero elsewhere.  The shape has the windows of the pooling, with kernel[0] 0
// for adaptive ones: a GPU searches the windows that contain an element.
using RunMaxPoolBackward = void(const PoolShape& s, ScalarType dtype, const void* grad_y,
                                const ConstPositions& positions, void* grad_x);

// The divisor of an average: the number of elements of the window, with or without padding, or a given number.
struct AverageDivisor {
  bool count_padding = true;
  int64_t fixed = 0;  // 0: none
};
using RunAvgPool = void(const PoolShape& s, ScalarType dtype, const AverageDivisor& divisor, const void* x, void* y);
using RunAvgPoolBackward = void(const PoolShape& s, ScalarType dtype, const AverageDivisor& divisor, const void* grad_y,
                                void* grad_x);

// Adaptive windows: output i of n covers [floor(i * in / n), ceil((i + 1) * in / n)).
using RunAdaptiveAvgPool = void(const PoolShape& s, ScalarType dtype, const void* x, void* y);
using RunAdaptiveAvgPoolBackward = void(const PoolShape& s, ScalarType dtype, const void* grad_y, void* grad_x);
using RunAdaptiveMaxPool = void(const PoolShape& s, ScalarType dtype, const void* x, void* y,
                                const Positions& positions);

}  // namespace argand
