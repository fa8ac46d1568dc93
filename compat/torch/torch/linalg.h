// torch::linalg: the functions of the library whose names begin with linalg_.
#pragma once
#include "argand/ops/namespaces.h"
#include "torch/types.h"
