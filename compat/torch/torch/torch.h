// All of the frontend, and the standard headers that LibTorch's brings and programs use without a word.
#pragma once
#include <cassert>
#include <iostream>
#include <memory>

#include "torch/autograd.h"
#include "torch/cuda.h"
#include "torch/data.h"
#include "torch/fft.h"
#include "torch/library.h"
#include "torch/linalg.h"
#include "torch/nn.h"
#include "torch/optim.h"
#include "torch/serialize.h"
#include "torch/special.h"
#include "torch/types.h"
#include "torch/utils.h"
