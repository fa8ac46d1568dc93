// Named tensors: the state of a module or an optimizer, in a fixed order.
#pragma once
#include "argand/base/ordered_dict.h"
#include "argand/core/tensor.h"

namespace argand {

using StateDict = OrderedDict<std::string, Tensor>;

}  // namespace argand
