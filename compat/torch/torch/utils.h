// Guards, seeds and warnings.
#pragma once
#include <memory>

#include "torch/types.h"

namespace torch {
using std::make_unique;
}  // namespace torch
