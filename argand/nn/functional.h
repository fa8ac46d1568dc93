// All of nn/functional.
#pragma once
#include "argand/nn/functional/activation.h"
#include "argand/nn/functional/conv.h"
#include "argand/nn/functional/dropout.h"
#include "argand/nn/functional/embedding.h"
#include "argand/nn/functional/linear.h"
#include "argand/nn/functional/loss.h"
#include "argand/nn/functional/padding.h"
#include "argand/nn/functional/pooling.h"
