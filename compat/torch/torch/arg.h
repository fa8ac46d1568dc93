// TORCH_ARG(T, name): an option with a chained setter and a getter.
#pragma once
#include "argand/base/arg.h"

#define TORCH_ARG(T, name) ARGAND_ARG(T, name)
