// torch::save and torch::load; pickle_save and pickle_load.
#pragma once
#include "argand/serialize/pickle.h"
#include "argand/serialize/serialize.h"
#include "torch/types.h"
