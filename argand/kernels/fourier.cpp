#include "argand/kernels/fourier.h"

#include "argand/kernels/cpu/fourier_dims.h"

namespace argand::blocks {
constinit Block<RunFourier> fourier(cpu::fourier);
constinit Block<GetFourierPlans> fourier_plans(nullptr);
}  // namespace argand::blocks
