// All of nn/functional.
#pragma once
#include "argand/nn/functional/activation.h"
#include "argand/nn/functional/batchnorm.h"
#include "argand/nn/functional/conv.h"
#include "argand/nn/functional/distance.h"
#include "argand/nn/functional/dropout.h"
#include "argand/nn/functional/instancenorm.h"
#include "argand/nn/functional/linear.h"
#include "argand/nn/functional/normalize.h"
#include "argand/nn/functional/normalization.h"
#include "argand/nn/functional/padding.h"
#include "argand/nn/functional/pooling.h"
