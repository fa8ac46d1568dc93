// Guards, seeds and warnings.
#pragma once
#include "torch/types.h"
