// load(path): what a checkpoint holds, whatever its format: PyTorch's (io/torch_file.h), safetensors or
// the index of several such files.  The content tells the format, not the name.
#pragma once
#include "argand/core/state_dict.h"
#include "argand/io/torch_file.h"

namespace argand::io {

// A safetensors file is a dict of its tensors.  FormatError for a file of none of these formats.
Value load(const ByteSource& source, const LoadOptions& options = {});
inline Value load(const std::string& path, const LoadOptions& options = {}) { return load(InputFile(path), options); }

// The tensors by their names; those of dicts within dicts, and of objects of TorchScript, by the path to them with
// dots. Values that are no tensors are left out.  ValueError where two have one name, or a key is no text.
StateDict tensors_of(const Value& value);
inline StateDict load_state_dict(const std::string& path, const LoadOptions& options = {}) {
  return tensors_of(load(path, options));
}

}  // namespace argand::io

namespace argand {
inline io::Value load(const std::string& path, const io::LoadOptions& options = {}) { return io::load(path, options); }
}  // namespace argand
