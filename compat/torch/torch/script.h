// All of the frontend, TorchScript's archives, and standard headers that programs which define ops expect of it.
#pragma once
#include <list>
#include <set>
#include <unordered_set>

#include "ATen/core/op_registration/op_registration.h"
#include "torch/jit.h"
#include "torch/torch.h"
