// All of argand::data.
#pragma once
#include "argand/data/data_loader.h"
#include "argand/data/dataloader.h"
#include "argand/data/datasets.h"
#include "argand/data/errors.h"
#include "argand/data/prefetcher.h"
#include "argand/data/samplers.h"
#include "argand/data/transforms.h"
