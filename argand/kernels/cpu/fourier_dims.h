// Fourier transforms along several dimensions on the CPU (kernels/fourier.h): one after another.
#pragma once
#include "argand/kernels/fourier.h"

namespace argand::cpu {

void fourier(const FourierCall& call);

}  // namespace argand::cpu
