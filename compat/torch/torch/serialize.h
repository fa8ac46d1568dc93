// torch::save and torch::load.
#pragma once
#include "argand/serialize/serialize.h"
#include "torch/types.h"
