// load(path): the contents of a checkpoint in any format: PyTorch's (io/torch_file.h), safetensors, or the index of
// several such files.  The content decides the format, not the name.
#pragma once
#include "argand/core/state_dict.h"
#include "argand/io/torch_file.h"

namespace argand::io {

// A safetensors file gives a dict of its tensors.  FormatError if the file has none of these formats.
Value load(const ByteSource& source, const LoadOptions& options = {});
inline Value load(const std::string& path, const LoadOptions& options = {}) { return load(InputFile(path), options); }

// The tensors by their names; tensors in nested dicts and in TorchScript objects by their dotted paths. Other values
// are left out.  ValueError if two tensors have one name, or a key is not a string.
StateDict tensors_of(const Value& value);
inline StateDict load_state_dict(const std::string& path, const LoadOptions& options = {}) {
  return tensors_of(load(path, options));
}

}  // namespace argand::io

namespace argand {
inline io::Value load(const std::string& path, const io::LoadOptions& options = {}) { return io::load(path, options); }
}  // namespace argand
