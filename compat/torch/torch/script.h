// All of the frontend, and ops of a program's own.  No TorchScript.
#pragma once
#include "torch/library.h"
#include "torch/torch.h"
