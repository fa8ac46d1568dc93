// Modules, their functional forms, initialisers and utilities.
#pragma once
#include "argand/nn/nn.h"
#include "torch/nn/functional/detail.h"
#include "torch/nn/pimpl.h"
