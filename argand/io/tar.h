// tar archives, read in order as data: POSIX's ustar with pax headers, and GNU's long names.  Nothing is unpacked.
//
// Files are untrusted.  Links, devices, sparse files, absolute names and names with ".." are refused.  Sizes are
// compared with the available bytes, and headers with their checksums.  An archive must end with its two empty blocks
// and zeros. Failures throw FileError with the path and the byte offset.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "argand/io/file.h"

namespace argand::io {

struct TarMember {
  std::string name;
  int64_t offset = 0, size = 0;  // position and length of its bytes in the archive
};

class TarReader {
 public:
  // `source` must outlive the reader.
  explicit TarReader(const ByteSource& source) : source_(source) {}
  // The next regular file; nothing at the end.  Directories are passed over.
  std::optional<TarMember> next();

 private:
  struct Header;
  bool read_header(Header& header);
  void expect_zeros() const;
  std::string read_text(const Header& header) const;
  void read_pax(const Header& header, bool global);
  std::string take_name(const Header& header);
  int64_t take_size(const Header& header);
  [[noreturn]] void fail(const std::string& what) const;

  const ByteSource& source_;
  int64_t at_ = 0;                        // offset of the next header
  std::optional<std::string> next_name_;  // the name of the next member from an extended header
  std::optional<int64_t> next_size_;
};

}  // namespace argand::io
