// Pooling of tensors with their channels last; arguments as in kernels/cpu/pool.h.  `adaptive` chooses the windows.
#pragma once
#include "argand/kernels/cpu/pool.h"

namespace argand::cuda::channels_last {

void max_pool(const cpu::PoolShape& s, ScalarType dtype, bool adaptive, const void* x, void* y,
              const cpu::Positions& at);
void max_pool_backward(const cpu::PoolShape& s, ScalarType dtype, bool adaptive, const void* grad_y,
                       const cpu::ConstPositions& at, void* grad_x);
void avg_pool(const cpu::PoolShape& s, ScalarType dtype, bool adaptive, const cpu::AverageDivisor& divisor,
              const void* x, void* y);
void avg_pool_backward(const cpu::PoolShape& s, ScalarType dtype, bool adaptive, const cpu::AverageDivisor& divisor,
                       const void* grad_y, void* grad_x);

}  // namespace argand::cuda::channels_last
