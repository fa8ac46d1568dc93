// Pooling over the last three dimensions of contiguous planes; fewer spatial dimensions have leading sizes of one.  The
// channels may lie last where pools_take_channels_last().
//
// Planes (batch x channels) are spread over threads; each is done by one, so overlapping windows add up in a fixed
// order.
#pragma once
#include <array>
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand::cpu {

struct PoolShape {
  int64_t planes = 0;
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, padding{0, 0, 0},
      dilation{1, 1, 1};
  int64_t channels = 0;  // not 0: planes lie [planes / channels, spatial..., channels] (kernels/channels_last.h)
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
};

bool pools_take_channels_last(const PoolShape& s);

// Positions within input planes, one for each output: int64 as users see them.  Those that only the backward op sees
// are int16 where planes are small enough: at 2 x 2 windows, half of what pooling would move are positions otherwise.
struct Positions {
  void* data;
  ScalarType dtype;
};
struct ConstPositions {
  const void* data;
  ScalarType dtype;
};

// y = max over each window, `positions` = where it is (the first of equals; the last NaN wins over all).
void max_pool(const PoolShape& s, ScalarType dtype, const void* x, void* y, const Positions& positions);
// grad_x = sum of grad_y at `positions`, zero elsewhere.  The shape has the windows of the pooling, kernel[0] being 0
// for adaptive ones: a GPU looks for an element in those that contain it.
void max_pool_backward(const PoolShape& s, ScalarType dtype, const void* grad_y, const ConstPositions& positions,
                       void* grad_x);

// How many elements an average divides by: those of the window, with or without the padding it covers, or a given
// number.
struct AverageDivisor {
  bool count_padding = true;
  int64_t fixed = 0;  // 0: none
};
void avg_pool(const PoolShape& s, ScalarType dtype, const AverageDivisor& divisor, const void* x, void* y);
void avg_pool_backward(const PoolShape& s, ScalarType dtype, const AverageDivisor& divisor, const void* grad_y,
                       void* grad_x);

// Adaptive windows: output i of n covers [floor(i * in / n), ceil((i + 1) * in / n)).
void adaptive_avg_pool(const PoolShape& s, ScalarType dtype, const void* x, void* y);
void adaptive_avg_pool_backward(const PoolShape& s, ScalarType dtype, const void* grad_y, void* grad_x);
void adaptive_max_pool(const PoolShape& s, ScalarType dtype, const void* x, void* y, const Positions& positions);

}  // namespace argand::cpu
