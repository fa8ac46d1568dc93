// Reading gzip (RFC 1952).  The reader of the format inside asks for the bytes that it expects, piece by piece, and
// finish() insists that there are no more: a gzip bomb is never inflated beyond what its content announces.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "argand/base/array_ref.h"

namespace argand::io {

// True if the bytes begin as a gzip member does (1f 8b 08).
bool is_gzip(ArrayRef<uint8_t> bytes);

// One gzip member held in memory; `compressed` must outlive the reader, `path` is for errors.  Not for several threads.
class GzipReader {
 public:
  // The maximum ratio of deflate; a larger announced size is refused before any allocation.
  static constexpr int64_t kMaxRatio = 1032;

  GzipReader(ArrayRef<uint8_t> compressed, std::string path);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  // Reads the next bytes of the content: exactly `count`, or fewer at its end.  Throws FileError on damage.
  size_t read(void* out, size_t count);
  // Checks the end: throws FileError if there is more content, if checksum or length do not match the bytes that were
  // read, or if another member or anything else follows.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace argand::io
