#include "argand/io/tar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "argand/base/str.h"

namespace argand::io {

namespace {

constexpr int64_t kBlock = 512;
constexpr size_t kMostText = 1 << 20;  // bytes of an extended header
constexpr size_t kMostName = 1 << 16;

// The reason why a member must not have this name, or null.
const char* wrong_in(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.size() > kMostName) return "it is longer than 64 KiB";
  if (name.find('\0') != name.npos) return "it holds a zero byte";
  if (name.front() == '/' || name.find('\\') != name.npos) return "it must be relative, with slashes";
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..") return "it leaves the archive";
    begin = end + 1;
  }
  return nullptr;
}

// The name of the kind of a member that is not a file.
const char* kind_of(char type) {
  switch (type) {
    case '1':
      return "a hard link";
    case '2':
      return "a symbolic link";
    case '3':
    case '4':
      return "a device";
    case '6':
      return "a FIFO";
    case 'S':
      return "a sparse file";
    default:
      return "of an unknown type";
  }
}

std::string_view until_zero(std::string_view field) { return field.substr(0, field.find('\0')); }

}  // namespace

struct TarReader::Header {
  std::array<char, kBlock> bytes;
  std::string_view field(size_t offset, size_t size) const { return {bytes.data() + offset, size}; }
  char type() const { return bytes[156]; }
  int64_t data = 0, size = 0;  // position and length of the data
};

void TarReader::fail(const std::string& what) const {
  throw FileError(str("'", source_.path(), "' is no tar archive that is read: byte ", at_, ": ", what), source_.path(),
                  0);
}

// An octal number that ends with a space or a zero byte, or GNU's form for what does not fit: 0x80 and 11 bytes.
static std::optional<int64_t> number_of(std::string_view field) {
  if (static_cast<uint8_t>(field[0]) == 0x80) {
    uint64_t value = 0;
    for (const char c : field.substr(1)) {
      if (value >> 55) return std::nullopt;
      value = value << 8 | static_cast<uint8_t>(c);
    }
    return static_cast<int64_t>(value);
  }
  while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value, 8);
  const auto used = static_cast<size_t>(end - field.data());
  if (error != std::errc() || value < 0 || field[0] == '-') return std::nullopt;
  if (used < field.size() && field[used] != ' ' && field[used] != '\0') return std::nullopt;
  return value;
}

void TarReader::expect_zeros() const {
  std::array<char, 1 << 14> piece;
  for (int64_t at = at_; at < source_.size();) {
    const auto count = static_cast<size_t>(std::min<int64_t>(source_.size() - at, piece.size()));
    source_.read(at, piece.data(), count);
    if (!std::all_of(piece.begin(), piece.begin() + static_cast<ptrdiff_t>(count), [](char c) { return c == 0; }))
      fail("the archive ends here, but more follows");
    at += static_cast<int64_t>(count);
  }
}

// False at the end.
bool TarReader::read_header(Header& h) {
  if (source_.size() - at_ < kBlock)
    fail(source_.size() == at_ ? "the archive is cut: it ends without two empty blocks" : "the archive is cut");
  source_.read(at_, h.bytes.data(), h.bytes.size());
  if (at_ == 0 && h.bytes[0] == '\x1f' && h.bytes[1] == '\x8b') fail("this is a gzip file; unpack it first");
  if (std::all_of(h.bytes.begin(), h.bytes.end(), [](char c) { return c == 0; })) {
    if (source_.size() - at_ < 2 * kBlock) fail("the archive is cut: it ends without two empty blocks");
    expect_zeros();
    return false;
  }
  if (h.field(257, 5) != "ustar") fail("expected a ustar header");
  int64_t sum = 8 * ' ';
  for (size_t i = 0; i < h.bytes.size(); ++i)
    if (i < 148 || i >= 156) sum += static_cast<uint8_t>(h.bytes[i]);
  if (number_of(h.field(148, 8)) != sum) fail("the header does not have its checksum");
  const auto size = number_of(h.field(124, 12));
  if (!size) fail("the size is no number");
  h.size = *size;
  h.data = at_ + kBlock;
  return true;
}

// The data of an extended header.
std::string TarReader::read_text(const Header& h) const {
  if (h.size > static_cast<int64_t>(kMostText)) fail("an extended header of more than 1 MiB");
  if (h.size > source_.size() - h.data) fail("the archive is cut");
  std::string text(static_cast<size_t>(h.size), '\0');
  source_.read(h.data, text.data(), text.size());
  return text;
}

// Lines "LENGTH KEY=VALUE\n", where LENGTH counts all of the line.
void TarReader::read_pax(const Header& h, bool global) {
  const std::string text = read_text(h);
  for (std::string_view rest = text; !rest.empty();) {
    size_t length = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
    const auto digits = static_cast<size_t>(end - rest.data());
    if (error != std::errc() || length > rest.size() || length < digits + 3 || rest[digits] != ' ' ||
        rest[length - 1] != '\n')
      fail("a pax header is not well-formed");
    const std::string_view line = rest.substr(digits + 1, length - digits - 2);
    rest.remove_prefix(length);
    const size_t equals = line.find('=');
    if (equals == line.npos) fail("a pax header is not well-formed");
    const std::string_view key = line.substr(0, equals), value = line.substr(equals + 1);
    if (key.starts_with("GNU.sparse")) fail("a sparse file is refused");
    if (key != "path" && key != "size") continue;
    if (global) fail("a pax header names all members");
    if (key == "path") {
      if (next_name_) fail("a member has two names");
      next_name_ = value;
      continue;
    }
    int64_t size = -1;
    const auto [size_end, size_error] = std::from_chars(value.data(), value.data() + value.size(), size);
    if (size_error != std::errc() || size_end != value.data() + value.size() || value.front() == '-' || next_size_)
      fail("the size in a pax header is no number");
    next_size_ = size;
  }
}

std::string TarReader::take_name(const Header& h) {
  std::string name;
  if (next_name_) {
    name = *std::exchange(next_name_, std::nullopt);
  } else {
    // In GNU's own format, these bytes are not the prefix of ustar.
    const std::string_view prefix = h.bytes[262] == '\0' ? until_zero(h.field(345, 155)) : std::string_view();
    name = prefix.empty() ? std::string(until_zero(h.field(0, 100))) : str(prefix, "/", until_zero(h.field(0, 100)));
  }
  while (name.starts_with("./") && name.size() > 2) name.erase(0, 2);
  if (const char* why = wrong_in(name)) fail(str("a member is called '", name.substr(0, 200), "': ", why));
  return name;
}

int64_t TarReader::take_size(const Header& h) {
  const int64_t size = next_size_ ? *std::exchange(next_size_, std::nullopt) : h.size;
  if (size > source_.size() - h.data) fail(str("a member of ", size, " bytes does not fit in the file"));
  return size;
}

std::optional<TarMember> TarReader::next() {
  for (Header h; read_header(h);) {
    // Skipped data end within the file, so nothing overflows.
    const auto pass = [&](int64_t size) {
      at_ = std::min(h.data + (size + kBlock - 1) / kBlock * kBlock, source_.size());
    };
    switch (h.type()) {
      case 'x':
      case 'g':
        read_pax(h, h.type() == 'g');
        pass(h.size);
        break;
      case 'L': {
        if (next_name_) fail("a member has two names");
        const std::string text = read_text(h);
        next_name_ = until_zero(text);
        pass(h.size);
        break;
      }
      case '5':
        take_name(h);
        if (take_size(h) != 0) fail("a directory with bytes");
        pass(0);
        break;
      case '0':
      case '\0': {
        TarMember member{take_name(h), h.data, take_size(h)};
        pass(member.size);
        return member;
      }
      default: {
        const std::string name = take_name(h);
        fail(str("'", name, "' is ", kind_of(h.type()), ": refused"));
      }
    }
  }
  if (next_name_ || next_size_) fail("an extended header without a member");
  return std::nullopt;
}

}  // namespace argand::io
