#include <zlib.h>

#include "argand/io/zip.h"

namespace argand::io {

namespace {

// The maximum ratio of deflate.
constexpr int64_t kMaxRatio = 1032;

struct Inflater {
  z_stream stream{};
  bool started = false;
  Inflater() { started = ::inflateInit2(&stream, -MAX_WBITS) == Z_OK; }  // bare, without the header of zlib or gzip
  ~Inflater() {
    if (started) ::inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

}  // namespace

std::string ZipDirectory::read_unpacked(const ZipMember& member, int64_t max_bytes) const {
  if (member.stored) return read(member, max_bytes);
  if (member.unpacked > max_bytes || member.size > max_bytes)
    fail(member, 0, str("expected at most ", max_bytes, " bytes, got ", member.unpacked));
  if (member.unpacked / kMaxRatio > member.size) fail(member, 0, "more bytes than its compressed ones can hold");
  std::string packed(static_cast<size_t>(member.size), '\0'), out(static_cast<size_t>(member.unpacked), '\0');
  source_.read(member.begin, packed.data(), packed.size());
  // zlib counts bytes with 32 bits; the caller's limit does not exceed them.
  if (packed.size() > UINT32_MAX || out.size() > UINT32_MAX) fail(member, 0, "too many bytes");
  Inflater inflater;
  if (!inflater.started) throw OutOfMemoryError("zip: there is no memory to inflate a member");
  char none = 0;
  inflater.stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  inflater.stream.avail_in = static_cast<uInt>(packed.size());
  inflater.stream.next_out = reinterpret_cast<Bytef*>(out.empty() ? &none : out.data());
  inflater.stream.avail_out = static_cast<uInt>(out.size());
  const int code = ::inflate(&inflater.stream, Z_FINISH);
  if (code != Z_STREAM_END || inflater.stream.avail_in != 0 || inflater.stream.avail_out != 0)
    fail(member, 0, "its compressed bytes are damaged");
  if (crc32_of(out.data(), out.size()) != member.crc) fail(member, 0, "its checksum is wrong: the file is damaged");
  return out;
}

}  // namespace argand::io
