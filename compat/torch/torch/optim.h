// Optimizers and schedulers of their learning rates.
#pragma once
#include "argand/optim/optim.h"
#include "torch/arg.h"
#include "torch/optim/schedulers/reduce_on_plateau_scheduler.h"
#include "torch/types.h"
