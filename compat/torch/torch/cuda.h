// Devices: whether there are any, how many, their random numbers.
#pragma once
#include "argand/exec/cuda.h"
#include "torch/types.h"
