#pragma once
#include "argand/parallel/data_parallel.h"
#include "torch/nn/pimpl.h"

namespace argand::nn::parallel {
using argand::parallel::data_parallel;
using argand::parallel::parallel_apply;
using argand::parallel::replicate;
}  // namespace argand::nn::parallel
