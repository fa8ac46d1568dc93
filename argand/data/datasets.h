// LibTorch's data sets: class templates whose batches have any type.
#pragma once
#include "argand/data/datasets/base.h"
#include "argand/data/datasets/chunk.h"
#include "argand/data/datasets/map.h"
#include "argand/data/datasets/mnist.h"
#include "argand/data/datasets/shared.h"
#include "argand/data/datasets/stateful.h"
#include "argand/data/datasets/tensor.h"
