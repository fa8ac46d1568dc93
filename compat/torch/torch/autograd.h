// Differentiation: backward, grad, Function.
#pragma once
#include "argand/autograd/engine.h"
#include "argand/autograd/function.h"
#include "torch/types.h"
