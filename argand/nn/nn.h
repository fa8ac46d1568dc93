// All of argand::nn.
#pragma once
#include "argand/nn/functional.h"
#include "argand/nn/init.h"
#include "argand/nn/modules.h"
#include "argand/nn/utils.h"
