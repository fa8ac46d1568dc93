// Transforms of MapDataset's batches.
#pragma once
#include "argand/data/transforms/base.h"
#include "argand/data/transforms/lambda.h"
#include "argand/data/transforms/stack.h"
#include "argand/data/transforms/tensor.h"
