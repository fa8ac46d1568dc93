// The JSON header of a safetensors file: a strict reader of just that shape, and its writer.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "argand/base/ordered_dict.h"

namespace argand::io {

struct TensorEntry {
  std::string name, dtype;
  std::vector<int64_t> shape;
  int64_t begin = 0, end = 0;  // bytes, counted from the end of the header
};

struct TensorHeader {
  std::vector<TensorEntry> tensors;  // in the order of the file
  OrderedDict<std::string, std::string> metadata;
};

inline constexpr size_t kMaxHeaderBytes = 100'000'000;
inline constexpr size_t kTreeBytes = size_t{48} << 20;  // in addition to the size of the file
inline constexpr size_t kMaxTensors = size_t{1} << 20;
inline constexpr size_t kMaxDims = 64;

// ValueError with the byte offset of the first fault: other JSON types, duplicate names or fields, numbers that are not
// plain non-negative integers, bad UTF-8.  Time and memory are linear in the text.
// `max_bytes` limits the memory for all that the header names, except the elements of tensors.
TensorHeader parse_tensor_header(std::string_view json, size_t max_bytes);

// The index of a model in several files: {"metadata": {...}, "weight_map": {"tensor": "file", ...}}; tensors and their
// files, in its order.  ValueError as above, and for files that are not plain names.
OrderedDict<std::string, std::string> parse_shard_index(std::string_view json, size_t max_bytes);
std::string write_tensor_header(const TensorHeader& header);

}  // namespace argand::io
