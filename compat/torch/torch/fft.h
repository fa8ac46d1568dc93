// torch::fft: the functions of the library whose names begin with fft_.
#pragma once
#include "argand/ops/namespaces.h"
#include "torch/types.h"
