// Pooling of [N, spatial..., C]; arguments as in pool.h.  `adaptive` says which windows.
#pragma once
#include "argand/kernels/cpu/pool.h"

namespace argand::cpu::channels_last {

void max_pool(const PoolShape& s, ScalarType dtype, bool adaptive, const void* x, void* y, const Positions& positions);
void max_pool_backward(const PoolShape& s, ScalarType dtype, const void* grad_y, const ConstPositions& positions,
                       void* grad_x);
void avg_pool(const PoolShape& s, ScalarType dtype, bool adaptive, const AverageDivisor& divisor, const void* x,
              void* y);
void avg_pool_backward(const PoolShape& s, ScalarType dtype, bool adaptive, const AverageDivisor& divisor,
                       const void* grad_y, void* grad_x);

}  // namespace argand::cpu::channels_last
