// All of the frontend, and standard headers that programs which define ops expect of it.  No TorchScript.
#pragma once
#include <list>
#include <set>
#include <unordered_set>

#include "ATen/core/op_registration/op_registration.h"
#include "torch/torch.h"
