// What every header of the frontend has: ATen in namespace torch.
#pragma once
#include "ATen/ATen.h"
#include "torch/autograd.h"
