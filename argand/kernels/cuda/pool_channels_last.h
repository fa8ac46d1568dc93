// Pooling of tensors with their channels last; arguments as in kernels/cpu/pool.h.  `adaptive` chooses the windows.
#pragma once
#include "argand/kernels/api/pool.h"

namespace argand::cuda::channels_last {

void max_pool(const PoolShape& s, ScalarType dtype, bool adaptive, const void* x, void* y, const Positions& at);
void max_pool_backward(const PoolShape& s, ScalarType dtype, bool adaptive, const void* grad_y,
                       const ConstPositions& at, void* grad_x);
void avg_pool(const PoolShape& s, ScalarType dtype, bool adaptive, const AverageDivisor& divisor, const void* x,
              void* y);
void avg_pool_backward(const PoolShape& s, ScalarType dtype, bool adaptive, const AverageDivisor& divisor,
                       const void* grad_y, void* grad_x);

}  // namespace argand::cuda::channels_last
