// Values as the bytes of a file of Python's torch.save, and back: LibTorch's torch::pickle_save and torch::pickle_load.
#pragma once
#include <optional>
#include <vector>

#include "argand/autograd/ivalue.h"
#include "argand/io/value.h"

namespace argand {

// None, numbers, texts, tensors, and lists, tuples and dicts of them; ValueError for anything else.
std::vector<char> pickle_save(const IValue& value);
// FormatError for bytes that are no such file, ValueError for what no IValue holds.  Nothing in them is run.
IValue pickle_load(const std::vector<char>& data);

// A value of a file that is no container: None, a number, a text, a device or a tensor.  Nothing for any other.
std::optional<IValue> plain_ivalue(const io::Value& value);

}  // namespace argand
