// Values as the bytes of a file of Python's torch.save, and back: LibTorch's torch::pickle_save and torch::pickle_load.
#pragma once
#include <vector>

#include "argand/autograd/ivalue.h"

namespace argand {

// None, numbers, texts, tensors, and lists, tuples and dicts of them; ValueError for anything else.
std::vector<char> pickle_save(const IValue& value);
// FormatError for bytes that are no such file, ValueError for what no IValue holds.  Nothing in them is run.
IValue pickle_load(const std::vector<char>& data);

}  // namespace argand
