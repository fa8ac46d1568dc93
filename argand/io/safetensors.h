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
#include <optional>
#include <string>

#include "argand/core/state_dict.h"
#include "argand/io/file.h"

namespace argand::io {

using Metadata = OrderedDict<std::string, std::string>;

// Note [Checksums of safetensors]
// The format has no checksums.  Files written here have a metadata entry for each tensor with its dtype, its shape and
// eight hexadecimal digits, the CRC-32 of its bytes, as in "F32 2,3 5f021cfc".  Other programs ignore these entries.
// If another program changed names, dtypes or shapes and kept the metadata, entries that match no tensor here are
// ignored.  If it changed only values, that looks like damage and is an error, unless the file is read without
// comparing.
inline constexpr const char* kChecksum = "argand.crc32:";

struct TensorFile {
  StateDict tensors;
  Metadata metadata;           // without the checksums
  bool has_checksums = false;  // whether all tensors have one
};

struct SafetensorsOptions {
  // Reads tensors at the first access to their elements (Note [Late reading]).
  bool mmap = false;
  // Whether checksums are compared, where the file has them; as LoadOptions::verify.
  std::optional<bool> verify = std::nullopt;
};

TensorFile load_safetensors(const ByteSource& source, const SafetensorsOptions& options = {});
inline TensorFile load_safetensors(const std::string& path, const SafetensorsOptions& options = {}) {
  return load_safetensors(InputFile(path), options);
}
// Whether the bytes begin like such a file.
bool is_safetensors(const ByteSource& source);

// A model in several files, by its index (model.safetensors.index.json).  The files lie beside the index; each holds
// the tensors that the index says, and no others.
TensorFile load_shards(const InputFile& index, const SafetensorsOptions& options = {});
// Whether the bytes begin as JSON.
bool is_shard_index(const ByteSource& source);

// Without `checksums` none are written, for callers with a better one.  ValueError for names and texts that could not
// be read back, DtypeError for complex128; then nothing is written.
void save_safetensors(const std::string& path, const StateDict& tensors, const Metadata& metadata = Metadata(),
                      bool checksums = true);

// The same bytes, given to `write` piece by piece; `reserve` is told their number first.
void write_safetensors(const StateDict& tensors, const Metadata& metadata, const std::function<void(int64_t)>& reserve,
                       const std::function<void(const void*, size_t)>& write, bool checksums = true);

}  // namespace argand::io
