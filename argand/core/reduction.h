// How a loss combines the losses of its elements.
#pragma once
#include <cstdint>

namespace argand::Reduction {

enum Reduction : int64_t { None, Mean, Sum };

}  // namespace argand::Reduction
