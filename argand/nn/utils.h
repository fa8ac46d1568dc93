// All of nn/utils.
#pragma once
#include "argand/nn/utils/convert_parameters.h"
