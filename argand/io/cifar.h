// CIFAR-10 and CIFAR-100, binary version (cs.toronto.edu/~kriz/cifar.html): records one after the other,
//
//   CIFAR-10   label (1 byte), 3 x 32 x 32 bytes of pixels: red, green, blue, row-major
//   CIFAR-100  coarse label, fine label, pixels
//
// Files are untrusted; failures throw FileError.  The version for Python is pickles: refused with a hint, never read.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "argand/io/file.h"

namespace argand::io {

enum class CifarKind { k10, k100 };

struct CifarSet {
  static constexpr int64_t kPixels = 3 * 32 * 32;
  int64_t count = 0;
  std::vector<uint8_t> images;         // count x 3 x 32 x 32
  std::vector<uint8_t> labels;         // for CIFAR-100 the fine ones
  std::vector<uint8_t> coarse_labels;  // for CIFAR-100 only
};

// One file.
CifarSet read_cifar(const ByteSource& file, CifarKind kind);
inline CifarSet read_cifar(const std::string& path, CifarKind kind) { return read_cifar(InputFile(path), kind); }
// The training or the test images of a folder: data_batch_1.bin to data_batch_5.bin and test_batch.bin, or train.bin
// and test.bin.
CifarSet load_cifar(const std::string& folder, CifarKind kind, bool train);

}  // namespace argand::io
