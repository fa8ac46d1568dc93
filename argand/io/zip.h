// Zip archives as PyTorch writes them: members that are stored, and code that may be compressed (APPNOTE.TXT of PKWARE,
// 6.3).
//
//   member 0 | member 1 | ... | central directory | [zip64 end record | its locator] | end record
//   member:   local header, name, extra field, bytes, [data descriptor]
//
// Reading is strict: members fill the file from byte 0 to the central directory without holes or overlaps, both headers
// of a member agree, no name occurs twice, and nothing follows the end record.  No number from the file decides an
// allocation before it is compared with the available bytes.  Failures are FormatErrors.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "argand/io/file.h"

namespace argand::io {

struct ZipMember {
  std::string name;                         // without the folder that all members are in
  int64_t header = 0, begin = 0, size = 0;  // where its local header and its bytes are; as many bytes as the file holds
  uint32_t crc = 0;
  bool stored = true;     // else compressed
  int64_t unpacked = -1;  // how many bytes it holds when it is no longer compressed
};

// All bytes of a stored member; their checksum is compared if `verify`.
void read_member(const ByteSource& source, const ZipMember& member, void* out, bool verify);

class ZipDirectory {
 public:
  // `allowed` says whether there may be a member of this name (without the folder), and whether it may be compressed.
  enum class Allow { kNo, kStored, kUnread };
  ZipDirectory(const ByteSource& source, size_t max_members, const std::function<Allow(std::string_view)>& allowed);
  ZipDirectory(const ZipDirectory&) = delete;
  ZipDirectory& operator=(const ZipDirectory&) = delete;

  // Whether the bytes start with a zip signature.
  static bool begins(const ByteSource& source);

  const std::string& folder() const { return folder_; }
  const std::vector<ZipMember>& members() const { return members_; }  // as they follow each other in the file
  const ZipMember* find(std::string_view name) const;
  void read(const ZipMember& member, void* out, bool verify = true) const { read_member(source_, member, out, verify); }
  std::string read(const ZipMember& member, int64_t max_bytes) const;
  // Does the same as read(), and inflates the bytes if they are compressed (RFC 1951).  It never makes more than
  // `max_bytes`, whatever the file announces.
  std::string read_unpacked(const ZipMember& member, int64_t max_bytes) const;
  // Compares only the checksum, reading the bytes piece by piece.
  void verify(const ZipMember& member) const;
  [[noreturn]] void fail(const ZipMember& member, int64_t offset, const std::string& what) const;
  const ByteSource& source() const { return source_; }

 private:
  struct End;
  End find_end() const;
  void read_directory(const End& end, size_t max_members, const std::function<Allow(std::string_view)>& allowed);
  void add(ZipMember member, const std::function<Allow(std::string_view)>& allowed);
  void check_local(ZipMember& member, int64_t next, uint16_t flags, uint16_t method) const;

  const ByteSource& source_;
  std::string folder_;
  std::vector<ZipMember> members_;
  std::vector<std::pair<uint16_t, uint16_t>> flags_;  // and method, of each member, while the archive is opened
  std::map<std::string_view, size_t> index_;          // a hash table could be attacked with collisions
};

// Passes the archive to `write` piece by piece, one member after another.
class ZipWriter {
 public:
  using Write = std::function<void(const void*, size_t)>;
  ZipWriter(std::string folder, Write write) : folder_(std::move(folder)), write_(std::move(write)) {}
  // The bytes begin at a multiple of 64, as PyTorch has it, so that they can be mapped.
  void add(std::string_view name, const void* data, size_t size);
  void add(std::string_view name, std::string_view text) { add(name, text.data(), text.size()); }
  void finish();

 private:
  void put(const std::string& bytes) { put(bytes.data(), bytes.size()); }
  void put(const void* data, size_t size);
  std::string folder_;
  Write write_;
  std::string directory_;
  int64_t at_ = 0, members_ = 0;
};

// The checksum of zip archives.
uint32_t crc32_of(const void* data, size_t size, uint32_t before = 0);

}  // namespace argand::io
