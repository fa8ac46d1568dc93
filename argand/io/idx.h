// IDX files, the format of MNIST (yann.lecun.com/exdb/mnist), plain or gzip-compressed, told apart by content:
//
//   byte 0-1  zero
//   byte 2    type of the elements, see IdxType
//   byte 3    number of dimensions N, 1 to kMaxIdxDims
//   4 N bytes the sizes, 32 bits each, most significant byte first
//   elements  row-major, most significant byte first
//
// Files are untrusted: every size is compared with the bytes that are there before anything is allocated.  Each failure
// throws FileError with path, byte offset, what was expected and what was found.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "argand/io/file.h"

namespace argand::io {

enum class IdxType : uint8_t {
  kUInt8 = 0x08,
  kInt8 = 0x09,
  kInt16 = 0x0b,
  kInt32 = 0x0c,
  kFloat32 = 0x0d,
  kFloat64 = 0x0e
};

constexpr int kMaxIdxDims = 64;

size_t size_of(IdxType type);

struct IdxArray {
  IdxType type = IdxType::kUInt8;
  std::vector<int64_t> sizes;
  std::vector<uint8_t> bytes;  // elements in the byte order of this machine

  int64_t numel() const;
};

// The whole file; its size must be exactly what its header says.
IdxArray read_idx(const ByteSource& file);
inline IdxArray read_idx(const std::string& path) { return read_idx(InputFile(path)); }

}  // namespace argand::io
