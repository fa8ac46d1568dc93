// LibTorch's samplers: the requests of a loader to its data set, one per batch.
#pragma once
#include "argand/data/samplers/base.h"
#include "argand/data/samplers/custom_batch_request.h"
#include "argand/data/samplers/distributed.h"
#include "argand/data/samplers/random.h"
#include "argand/data/samplers/sequential.h"
#include "argand/data/samplers/stream.h"
