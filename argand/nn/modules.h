// All of nn/modules.
#pragma once
#include "argand/nn/modules/activation.h"
#include "argand/nn/modules/container/any.h"
#include "argand/nn/modules/container/moduledict.h"
#include "argand/nn/modules/container/modulelist.h"
#include "argand/nn/modules/container/named_any.h"
#include "argand/nn/modules/container/parameterlist.h"
#include "argand/nn/modules/container/sequential.h"
#include "argand/nn/modules/conv.h"
#include "argand/nn/modules/dropout.h"
#include "argand/nn/modules/linear.h"
#include "argand/nn/modules/padding.h"
#include "argand/nn/modules/pooling.h"
