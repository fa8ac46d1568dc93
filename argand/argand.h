// Everything: #include <argand/argand.h>
#pragma once
#include "argand/autograd/engine.h"
#include "argand/core/cpu_generator.h"
#include "argand/core/grad_mode.h"
#include "argand/data/data_loader.h"
#include "argand/nn/module.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/adam.h"
#include "argand/optim/lr_scheduler.h"
#include "argand/optim/rmsprop.h"
#include "argand/optim/sgd.h"
