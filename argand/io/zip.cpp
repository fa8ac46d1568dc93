#include "argand/io/zip.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "argand/io/format_error.h"
#include "argand/io/utf8.h"

namespace argand::io {

namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kDescriptor = 0x08074b50, kEnd = 0x06054b50,
                   kZip64End = 0x06064b50, kZip64Locator = 0x07064b50;
constexpr int64_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kZip64EndBytes = 56, kLocatorBytes = 20;
constexpr uint16_t kStoredMethod = 0, kDeflated = 8, kHasDescriptor = 1U << 3, kUtf8 = 1U << 11, kDeflateOptions = 6;
constexpr uint32_t kInZip64 = 0xFFFFFFFF;
constexpr size_t kMaxName = 65535, kPiece = size_t{1} << 20;
constexpr int64_t kAlignment = 64;

// Numbers of the file, least significant byte first.
template <class T>
T number(const char* at) {
  T out = 0;
  for (size_t i = 0; i < sizeof(T); ++i) out |= static_cast<T>(static_cast<T>(static_cast<uint8_t>(at[i])) << (8 * i));
  return out;
}
uint16_t u16(const char* p) { return number<uint16_t>(p); }
uint32_t u32(const char* p) { return number<uint32_t>(p); }
uint64_t u64(const char* p) { return number<uint64_t>(p); }

template <class T>
void append_number(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(static_cast<uint8_t>(value >> (8 * i)));
}

// Numbers of 32 bits that have moved to the extra field, in their order.
struct Extra {
  std::string_view zip64;
  bool good = true;

  explicit Extra(std::string_view field) {
    bool found = false;
    while (!field.empty()) {
      const size_t size = field.size() < 4 ? field.size() : u16(field.data() + 2);
      if (field.size() < 4 || field.size() - 4 < size || (found && u16(field.data()) == 1)) {
        good = false;
        return;
      }
      if (u16(field.data()) == 1) {
        zip64 = field.substr(4, size);
        found = true;
      }
      field.remove_prefix(4 + size);
    }
  }
  // The value itself if it is no placeholder.
  uint64_t take(uint32_t value) {
    if (value != kInZip64) return value;
    if (zip64.size() < 8) {
      good = false;
      return 0;
    }
    const uint64_t out = u64(zip64.data());
    zip64.remove_prefix(8);
    return out;
  }
};

bool good_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName && name.find('\0') == std::string_view::npos &&
         name.find('\\') == std::string_view::npos && is_utf8(name);
}

// A name of a file in a message, which is UTF-8 whatever the name is.
std::string shown(std::string_view name) {
  std::string out(name.substr(0, 100));
  const bool text = is_utf8(out);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || (!text && static_cast<unsigned char>(c) >= 0x80)) c = '?';
  return out;
}

[[noreturn]] void fail_in(const ByteSource& source, const ZipMember& member, int64_t offset, const std::string& what) {
  throw FormatError(source.path(), shown(member.name), offset, what);
}

}  // namespace

struct ZipDirectory::End {
  int64_t directory = 0, directory_bytes = 0, at = 0;  // `at`: the end of the directory
  uint64_t members = 0;
};

bool ZipDirectory::begins(const ByteSource& source) {
  char magic[4] = {};
  if (source.size() < 4) return false;
  source.read(0, magic, 4);
  return u32(magic) == kLocal || u32(magic) == kEnd;
}

ZipDirectory::End ZipDirectory::find_end() const {
  const int64_t size = source_.size(), at = size - kEndBytes;
  const auto require = [&](bool condition, int64_t offset, const char* what) {
    if (!condition) throw FormatError(source_.path(), "", offset, what);
  };
  require(at >= 0, 0, "too short for a zip archive");
  char end[kEndBytes], locator[kLocatorBytes], zip64[kZip64EndBytes];
  source_.read(at, end, sizeof end);
  require(u32(end) == kEnd && u16(end + 20) == 0, at,
          "expected the end record of a zip archive; the file is cut, or something follows it");
  require(u16(end + 4) == 0 && u16(end + 6) == 0 && u16(end + 8) == u16(end + 10), at,
          "a zip archive of several parts");
  End out{.directory = u32(end + 16), .directory_bytes = u32(end + 12), .at = at, .members = u16(end + 10)};
  const int64_t zip64_at = at - kLocatorBytes - kZip64EndBytes;
  if (at >= kLocatorBytes) source_.read(at - kLocatorBytes, locator, sizeof locator);
  if (at >= kLocatorBytes && u32(locator) == kZip64Locator) {
    require(zip64_at >= 0 && u64(locator + 8) == static_cast<uint64_t>(zip64_at) && u32(locator + 4) == 0 &&
                u32(locator + 16) == 1,
            at - kLocatorBytes, "the zip64 locator does not point to the record before it");
    source_.read(zip64_at, zip64, sizeof zip64);
    require(u32(zip64) == kZip64End && u64(zip64 + 4) == kZip64EndBytes - 12 && u32(zip64 + 16) == 0 &&
                u32(zip64 + 20) == 0 && u64(zip64 + 24) == u64(zip64 + 32),
            zip64_at, "the zip64 end record is damaged");
    const uint64_t count = u64(zip64 + 32), bytes = u64(zip64 + 40), first = u64(zip64 + 48);
    // A placeholder only if the number does not fit; else readers without zip64 would see another archive.
    const auto same = [](uint64_t wide, uint64_t narrow, uint64_t limit) { return narrow == std::min(wide, limit); };
    require(same(count, out.members, 0xFFFF) && same(bytes, u32(end + 12), kInZip64) &&
                same(first, u32(end + 16), kInZip64),
            zip64_at, "the end record and the zip64 end record differ");
    require(bytes <= static_cast<uint64_t>(size) && first <= static_cast<uint64_t>(size), zip64_at,
            "the directory lies outside of the file");
    out = {.directory = static_cast<int64_t>(first),
           .directory_bytes = static_cast<int64_t>(bytes),
           .at = zip64_at,
           .members = count};
  } else {
    require(out.members != 0xFFFF && u32(end + 12) != kInZip64 && u32(end + 16) != kInZip64, at,
            "the zip64 end record is missing");
  }
  require(out.directory_bytes <= out.at && out.directory == out.at - out.directory_bytes, at,
          "the directory does not end where the end record begins");
  return out;
}

ZipDirectory::ZipDirectory(const ByteSource& source, size_t max_members,
                           const std::function<Allow(std::string_view)>& allowed)
    : source_(source) {
  const End end = find_end();
  read_directory(end, max_members, allowed);
  std::vector<size_t> order(members_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return members_[a].header < members_[b].header; });
  int64_t at = 0;
  std::vector<ZipMember> sorted;
  sorted.reserve(members_.size());
  for (size_t k = 0; k < order.size(); ++k) {
    ZipMember& m = members_[order[k]];
    if (m.header != at)
      fail(m, 0,
           str("its header is at byte ", m.header, " of the file; expected ", at,
               ": members must neither overlap nor leave holes"));
    at = k + 1 < order.size() ? members_[order[k + 1]].header : end.directory;
    check_local(m, at, flags_[order[k]].first, flags_[order[k]].second);
  }
  for (const size_t i : order) sorted.push_back(std::move(members_[i]));
  members_ = std::move(sorted);
  flags_ = {};
  for (size_t i = 0; i < members_.size(); ++i) {
    const bool added = index_.emplace(members_[i].name, i).second;
    if (!added) fail(members_[i], 0, "there are two members of this name");
  }
}

void ZipDirectory::read_directory(const End& end, size_t max_members,
                                  const std::function<Allow(std::string_view)>& allowed) {
  const auto fail_at = [&](int64_t offset, const std::string& what) {
    throw FormatError(source_.path(), "", end.directory + offset, what);
  };
  if (end.members > max_members || end.members > static_cast<uint64_t>(end.directory_bytes / kCentralBytes))
    fail_at(0, str("a directory of ", end.members, " members; expected at most ", max_members, ", and bytes for each"));
  if (end.members == 0) fail_at(0, "an archive without members");
  std::string text(static_cast<size_t>(end.directory_bytes), '\0');
  source_.read(end.directory, text.data(), text.size());
  members_.reserve(static_cast<size_t>(end.members));
  flags_.reserve(static_cast<size_t>(end.members));
  std::string_view rest = text;
  const auto at = [&] { return static_cast<int64_t>(text.size() - rest.size()); };
  for (uint64_t i = 0; i < end.members; ++i) {
    const char* p = rest.data();
    if (rest.size() < kCentralBytes || u32(p) != kCentral) fail_at(at(), "expected the header of a member");
    const size_t name = u16(p + 28), extra = u16(p + 30), comment = u16(p + 32);
    if (rest.size() - kCentralBytes < name + extra + comment) fail_at(at(), "a header that is cut off");
    const std::string_view full = rest.substr(kCentralBytes, name);
    const uint16_t flags = u16(p + 8), method = u16(p + 10);
    Extra wide(rest.substr(kCentralBytes + name, extra));
    const uint64_t size = wide.take(u32(p + 24)), packed = wide.take(u32(p + 20)), header = wide.take(u32(p + 42));
    const uint32_t mode = u32(p + 38) >> 16 & 0170000;
    const auto refuse = [&](const std::string& what) { fail_at(at(), str("member '", shown(full), "': ", what)); };
    if (!wide.good) refuse("its extra field is damaged");
    if (comment != 0 || u16(p + 34) != 0) refuse("it has a comment, or is part of another file");
    if (mode != 0 && mode != 0100000) refuse("it is no regular file");
    if ((flags & 1) != 0) refuse("it is encrypted");
    if ((flags & ~(kHasDescriptor | kUtf8 | (method == kDeflated ? kDeflateOptions : 0))) != 0)
      refuse(str("unknown flags ", flags));
    if (method != kStoredMethod && method != kDeflated) refuse(str("unknown compression method ", method));
    if (method == kStoredMethod && size != packed) refuse(str("it is stored, but has ", size, " bytes in ", packed));
    if (size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ||
        packed > static_cast<uint64_t>(end.directory) || header >= static_cast<uint64_t>(end.directory))
      refuse("it lies outside of the file");
    if (!good_name(full)) refuse("not a name that is read");
    ZipMember m{.name = std::string(full),
                .header = static_cast<int64_t>(header),
                .size = static_cast<int64_t>(packed),
                .crc = u32(p + 16),
                .stored = method == kStoredMethod,
                .unpacked = static_cast<int64_t>(size)};
    try {
      add(std::move(m), allowed);
    } catch (const ValueError& e) {
      refuse(e.msg());
    }
    flags_.emplace_back(flags, method);
    rest.remove_prefix(kCentralBytes + name + extra + comment);
  }
  if (!rest.empty()) fail_at(at(), "the directory has more bytes than members");
}

void ZipDirectory::add(ZipMember member, const std::function<Allow(std::string_view)>& allowed) {
  const size_t slash = member.name.find('/');
  ARGAND_CHECK(ValueError, slash != std::string::npos && slash > 0, "it is in no folder");
  if (members_.empty()) folder_ = member.name.substr(0, slash);
  ARGAND_CHECK(ValueError,
               std::string_view(member.name).substr(0, slash) == folder_ && folder_ != ".." && folder_ != ".",
               "not in the folder '", shown(folder_), "'");
  const Allow allow = allowed(std::string_view(member.name).substr(slash + 1));
  ARGAND_CHECK(ValueError, allow != Allow::kNo, "not a name that is read");
  ARGAND_CHECK(ValueError, member.stored || allow == Allow::kUnread, "a compressed record is refused");
  member.name.erase(0, slash + 1);
  members_.push_back(std::move(member));
}

// Compares the header before the bytes, and what follows them, with the directory.
void ZipDirectory::check_local(ZipMember& m, int64_t next, uint16_t flags, uint16_t method) const {
  if (next - m.header < kLocalBytes) fail(m, 0, "it overlaps the next member");
  char head[kLocalBytes];
  source_.read(m.header, head, sizeof head);
  if (u32(head) != kLocal) fail(m, 0, "expected a local header");
  const int64_t name = u16(head + 26), extra = u16(head + 28);
  if (next - m.header - kLocalBytes < name + extra) fail(m, 0, "its header overlaps the next member");
  std::string text(static_cast<size_t>(name + extra), '\0');
  source_.read(m.header + kLocalBytes, text.data(), text.size());
  if (text.compare(0, static_cast<size_t>(name), folder_ + "/" + m.name) != 0 || u16(head + 6) != flags ||
      u16(head + 8) != method)
    fail(m, 0, "its two headers differ");
  Extra wide(std::string_view(text).substr(static_cast<size_t>(name)));
  const uint64_t size = wide.take(u32(head + 22)), packed = wide.take(u32(head + 18));
  const auto expected = static_cast<uint64_t>(m.size);
  // With a descriptor behind the bytes, the header may leave its numbers out.
  const bool later = (flags & kHasDescriptor) != 0 && size == 0 && packed == 0 && u32(head + 14) == 0;
  if (!wide.good || (!later && (packed != expected || u32(head + 14) != m.crc || (m.stored && size != expected))))
    fail(m, 0, "its two headers differ");
  m.begin = m.header + kLocalBytes + name + extra;
  const int64_t left = next - m.begin - m.size;
  if (left < 0) fail(m, 0, "it overlaps the next member");
  if ((flags & kHasDescriptor) == 0) {
    if (left != 0) fail(m, m.size, str(left, " bytes that belong to no member"));
    return;
  }
  char tail[24];
  if (left != 16 && left != 24) fail(m, m.size, "expected a descriptor of 16 or 24 bytes behind it");
  source_.read(m.begin + m.size, tail, static_cast<size_t>(left));
  const uint64_t tail_packed = left == 16 ? u32(tail + 8) : u64(tail + 8),
                 tail_size = left == 16 ? u32(tail + 12) : u64(tail + 16);
  if (u32(tail) != kDescriptor || u32(tail + 4) != m.crc || tail_packed != expected ||
      (m.stored && tail_size != expected))
    fail(m, m.size, "the descriptor behind it differs from the directory");
}

const ZipMember* ZipDirectory::find(std::string_view name) const {
  const auto it = index_.find(name);
  return it == index_.end() ? nullptr : &members_[it->second];
}

void ZipDirectory::fail(const ZipMember& member, int64_t offset, const std::string& what) const {
  fail_in(source_, member, offset, what);
}

void read_member(const ByteSource& source, const ZipMember& member, void* out, bool verify) {
  if (!member.stored) fail_in(source, member, 0, "a compressed record is refused");
  auto* to = static_cast<char*>(out);
  uint32_t crc = 0;
  // In pieces that are still in the cache when their checksum is computed.
  for (int64_t at = 0; at < member.size;) {
    const size_t count =
        verify ? std::min(kPiece, static_cast<size_t>(member.size - at)) : static_cast<size_t>(member.size - at);
    source.read(member.begin + at, to + at, count);
    if (verify) crc = crc32_of(to + at, count, crc);
    at += static_cast<int64_t>(count);
  }
  if (verify && crc != member.crc) fail_in(source, member, 0, "its checksum is wrong: the file is damaged");
}

std::string ZipDirectory::read(const ZipMember& member, int64_t max_bytes) const {
  if (member.size > max_bytes) fail(member, 0, str("expected at most ", max_bytes, " bytes, got ", member.size));
  std::string out(static_cast<size_t>(member.size), '\0');
  read(member, out.data());
  return out;
}

void ZipDirectory::verify(const ZipMember& member) const {
  std::string piece(std::min(kPiece, static_cast<size_t>(member.size)), '\0');
  uint32_t crc = 0;
  for (int64_t at = 0; at < member.size; at += static_cast<int64_t>(piece.size())) {
    const size_t count = std::min(piece.size(), static_cast<size_t>(member.size - at));
    source_.read(member.begin + at, piece.data(), count);
    crc = crc32_of(piece.data(), count, crc);
  }
  if (crc != member.crc) fail(member, 0, "its checksum is wrong: the file is damaged");
}

// ---- writing

void ZipWriter::put(const void* data, size_t size) {
  if (size > 0) write_(data, size);
  at_ += static_cast<int64_t>(size);
}

void ZipWriter::add(std::string_view name, const void* data, size_t size) {
  const std::string full = str(folder_, "/", name);
  ARGAND_CHECK(ValueError, full.size() <= kMaxName, "ZipWriter: a name of more than ", kMaxName, " bytes");
  const uint32_t crc = crc32_of(data, size);
  const bool wide = size >= kInZip64, far = static_cast<uint64_t>(at_) >= kInZip64;
  const auto short_size = wide ? kInZip64 : static_cast<uint32_t>(size);
  const auto common = [&](std::string& out) {  // what both headers hold
    append_number<uint16_t>(out, wide || far ? 45 : 20);
    append_number<uint16_t>(out, kUtf8);
    append_number<uint16_t>(out, kStoredMethod);
    append_number<uint32_t>(out, 0x00210000);  // 1980-01-01, so that the file depends only on its contents
    append_number<uint32_t>(out, crc);
    append_number<uint32_t>(out, short_size);
    append_number<uint32_t>(out, short_size);
    append_number<uint16_t>(out, static_cast<uint16_t>(full.size()));
  };
  std::string extra;
  if (wide) {
    append_number<uint16_t>(extra, 1);
    append_number<uint16_t>(extra, 16);
    append_number<uint64_t>(extra, size);
    append_number<uint64_t>(extra, size);
  }
  // Padding that PyTorch's reader knows: a field "FB" of Zs.
  const int64_t used = at_ + kLocalBytes + static_cast<int64_t>(full.size() + extra.size()) + 4;
  const auto padding = static_cast<size_t>((kAlignment - used % kAlignment) % kAlignment);
  extra += "FB";
  append_number<uint16_t>(extra, static_cast<uint16_t>(padding));
  extra.append(padding, 'Z');

  std::string head;
  append_number<uint32_t>(head, kLocal);
  common(head);
  append_number<uint16_t>(head, static_cast<uint16_t>(extra.size()));

  std::string moved;  // numbers that do not fit in 32 bits
  if (wide) {
    append_number<uint64_t>(moved, size);
    append_number<uint64_t>(moved, size);
  }
  if (far) append_number<uint64_t>(moved, static_cast<uint64_t>(at_));
  append_number<uint32_t>(directory_, kCentral);
  append_number<uint16_t>(directory_, 45);
  common(directory_);
  append_number<uint16_t>(directory_, static_cast<uint16_t>(moved.empty() ? 0 : moved.size() + 4));
  for (int i = 0; i < 3; ++i) append_number<uint16_t>(directory_, 0);  // comment, part, attributes
  append_number<uint32_t>(directory_, 0);
  append_number<uint32_t>(directory_, far ? kInZip64 : static_cast<uint32_t>(at_));
  directory_ += full;
  if (!moved.empty()) {
    append_number<uint16_t>(directory_, 1);
    append_number<uint16_t>(directory_, static_cast<uint16_t>(moved.size()));
    directory_ += moved;
  }
  put(head + full + extra);
  put(data, size);
  ++members_;
}

void ZipWriter::finish() {
  const int64_t first = at_, bytes = static_cast<int64_t>(directory_.size());
  const auto count = static_cast<uint64_t>(members_);
  put(directory_);
  std::string end;
  append_number<uint32_t>(end, kZip64End);
  append_number<uint64_t>(end, kZip64EndBytes - 12);
  append_number<uint16_t>(end, 45);
  append_number<uint16_t>(end, 45);
  append_number<uint64_t>(end, 0);  // this part and that of the directory
  append_number<uint64_t>(end, count);
  append_number<uint64_t>(end, count);
  append_number<uint64_t>(end, static_cast<uint64_t>(bytes));
  append_number<uint64_t>(end, static_cast<uint64_t>(first));
  append_number<uint32_t>(end, kZip64Locator);
  append_number<uint32_t>(end, 0);
  append_number<uint64_t>(end, static_cast<uint64_t>(first + bytes));
  append_number<uint32_t>(end, 1);
  append_number<uint32_t>(end, kEnd);
  append_number<uint32_t>(end, 0);
  append_number<uint16_t>(end, static_cast<uint16_t>(std::min<uint64_t>(count, 0xFFFF)));
  append_number<uint16_t>(end, static_cast<uint16_t>(std::min<uint64_t>(count, 0xFFFF)));
  append_number<uint32_t>(end, static_cast<uint32_t>(std::min<int64_t>(bytes, kInZip64)));
  append_number<uint32_t>(end, static_cast<uint32_t>(std::min<int64_t>(first, kInZip64)));
  append_number<uint16_t>(end, 0);
  put(end);
}

}  // namespace argand::io
