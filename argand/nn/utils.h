// All of nn/utils.
#pragma once
#include "argand/nn/utils/clip_grad.h"
#include "argand/nn/utils/convert_parameters.h"
#include "argand/nn/utils/fusion.h"
#include "argand/nn/utils/rnn.h"
