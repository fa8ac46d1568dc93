// safetensors files: named tensors and text, the format of github.com/huggingface/safetensors (format 0.3+):
//
//   byte 0-7  N, the length of the header, least significant byte first
//   N bytes   JSON: {"__metadata__": {"key": "text", ...}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets":
//   [0, 24]}, ...} the rest  the elements of all tensors, row-major, without holes
//
// Reading is strict and never trusts a number before it is compared with the bytes that are there; every failure throws
// FileError with the path and what is wrong, and executes nothing.  Writing goes through AtomicFile.
#pragma once
#include <functional>
#include <string>

#include "argand/core/state_dict.h"
#include "argand/io/file.h"

namespace argand::io {

using Metadata = OrderedDict<std::string, std::string>;

struct TensorFile {
  StateDict tensors;
  Metadata metadata;
};

// `mmap`: tensors of a file are its pages, read when they are first used, where their bytes are aligned to their dtype
// (Note [Mapped files]); bools are read.
TensorFile load_safetensors(const ByteSource& source, bool mmap = false);
inline TensorFile load_safetensors(const std::string& path, bool mmap = false) {
  return load_safetensors(InputFile(path), mmap);
}
// Whether the bytes begin as such a file does.
bool is_safetensors(const ByteSource& source);

// A model in several files, by its index (model.safetensors.index.json).  The files lie beside the index; each holds
// the tensors that the index says, and no others.
TensorFile load_shards(const InputFile& index, bool mmap = false);
// Whether the bytes begin as JSON.
bool is_shard_index(const ByteSource& source);

// ValueError for names and texts that could not be read back, DtypeError for complex128; then nothing is written.
void save_safetensors(const std::string& path, const StateDict& tensors, const Metadata& metadata = Metadata());

// The same bytes, given to `write` piece by piece; `reserve` is told their number first.
void write_safetensors(const StateDict& tensors, const Metadata& metadata, const std::function<void(int64_t)>& reserve,
                       const std::function<void(const void*, size_t)>& write);

}  // namespace argand::io
