// The error of a reader for a file that violates its format.
#pragma once
#include "argand/io/file.h"

namespace argand::io {

// Holds the part of the file ("data.pkl"; empty: none) and the byte offset in that part.
class FormatError : public FileError {
 public:
  FormatError(const std::string& path, std::string record, int64_t offset, const std::string& what)
      : FileError(str("load: '", path, "' is no valid checkpoint: ", record, record.empty() ? "" : ", ", "byte ",
                      offset, ": ", what),
                  path, 0),
        record_(std::move(record)),
        offset_(offset) {}
  const std::string& record() const noexcept { return record_; }
  int64_t offset() const noexcept { return offset_; }

 private:
  std::string record_;
  int64_t offset_;
};

}  // namespace argand::io
