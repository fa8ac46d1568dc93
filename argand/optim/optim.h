// All of argand::optim.
#pragma once
#include "argand/optim/adadelta.h"
#include "argand/optim/adagrad.h"
#include "argand/optim/adam.h"
#include "argand/optim/adamax.h"
#include "argand/optim/grad_scaler.h"
#include "argand/optim/lbfgs.h"
#include "argand/optim/lr_scheduler.h"
#include "argand/optim/nadam.h"
#include "argand/optim/radam.h"
#include "argand/optim/rmsprop.h"
#include "argand/optim/sgd.h"
