// Fourier transforms along several dimensions on the CPU (kernels/api/fourier.h): one after another.
#pragma once
#include "argand/kernels/api/fourier.h"

namespace argand::cpu {

void fourier(const FourierCall& call);

}  // namespace argand::cpu
