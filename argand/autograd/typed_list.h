// Lists of the kinds that LibTorch has.
#pragma once
#include <span>

#include "argand/autograd/ivalue.h"

namespace argand {

// A list of tensors, ints or floats if all elements are of that kind, otherwise a list of anything; so is one without
// elements.
IValue typed_list(std::span<const IValue> elements);

}  // namespace argand
