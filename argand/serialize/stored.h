// Converts an archive's entries to tensors and metadata of a safetensors file and back; also reads LibTorch's archives.
#pragma once
#include "argand/io/file.h"
#include "argand/io/safetensors.h"
#include "argand/serialize/archive.h"

namespace argand::serialize {

// ValueError for a value of a type that has no text.
io::TensorFile stored(const Entries& entries);
// FileError with `path` for metadata that stored() does not write.
Entries restored(const io::TensorFile& file, const std::string& path, const std::optional<Device>& device);
// The entries of a file of either kind: ours, or an archive of LibTorch.
Entries restored(const io::ByteSource& source, const std::optional<Device>& device);

}  // namespace argand::serialize
