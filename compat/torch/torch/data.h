// Data sets, samplers, transforms and loaders.
#pragma once
#include "argand/data/data.h"
#include "torch/arg.h"
#include "torch/data/detail/data_shuttle.h"
#include "torch/data/detail/sequencers.h"
#include "torch/types.h"

namespace argand::data {
using datasets::BatchDataset;
using datasets::StreamDataset;
}  // namespace argand::data
