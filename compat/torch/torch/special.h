// torch::special: the functions of the library whose names begin with special_.
#pragma once
#include "argand/ops/namespaces.h"
#include "torch/types.h"
