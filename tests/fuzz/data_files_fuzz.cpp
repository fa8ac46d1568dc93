// The readers of data sets' files (IDX, CIFAR, comma-separated values, text, tar), each beside a judge.
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

#include "argand/io/cifar.h"
#include "argand/io/idx.h"
#include "argand/io/tar.h"
#include "argand/io/text.h"
#include "tests/fuzz/fuzz.h"

namespace argand::fuzz {

namespace {

uint8_t at(std::string_view s, size_t i) { return static_cast<uint8_t>(s[i]); }

// ---- text: code points, by their definition

bool is_text(std::string_view s) {
  for (size_t i = 0; i < s.size();) {
    const unsigned lead = at(s, i);
    const size_t more = lead < 0x80 ? 0 : lead >> 5 == 6 ? 1 : lead >> 4 == 14 ? 2 : lead >> 3 == 30 ? 3 : 9;
    if (more == 9 || s.size() - i <= more) return false;
    unsigned point = more == 0 ? lead : lead & ((0x40U >> more) - 1);
    for (size_t k = 1; k <= more; ++k) {
      if (at(s, i + k) >> 6 != 2) return false;
      point = point << 6 | (at(s, i + k) & 0x3F);
    }
    static constexpr unsigned kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (point < kLeast[more] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return false;
    i += more + 1;
  }
  return true;
}

// ---- IDX

struct Array {
  std::vector<int64_t> sizes;
  std::string bytes;
};

// Unzips a file that consists of one gzip member; nothing for other files.
std::optional<std::string> unzipped(std::string_view file) {
  std::string out(file.size() + 4096, '\0');
  z_stream stream{};
  if (::inflateInit2(&stream, 31) != Z_OK) std::abort();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data()));
  stream.avail_in = static_cast<uInt>(file.size());
  int code = Z_OK;
  for (bool more = true; more; more = code == Z_OK && stream.avail_out == 0) {
    if (stream.total_out == out.size()) out.resize(2 * out.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data()) + stream.total_out;
    stream.avail_out = static_cast<uInt>(out.size() - stream.total_out);
    code = ::inflate(&stream, Z_NO_FLUSH);
  }
  const bool good = code == Z_STREAM_END && stream.avail_in == 0;
  out.resize(stream.total_out);
  ::inflateEnd(&stream);
  if (!good) return std::nullopt;
  return out;
}

std::optional<Array> judge_idx(std::string_view file) {
  std::string content;
  if (file.substr(0, 3) == "\x1f\x8b\x08") {
    const auto inside = unzipped(file);
    if (!inside) return std::nullopt;
    content = *inside;
    file = content;
  }
  if (file.size() < 4 || file[0] != 0 || file[1] != 0) return std::nullopt;
  size_t width = 0;
  switch (file[2]) {
    case 0x08:
    case 0x09:
      width = 1;
      break;
    case 0x0b:
      width = 2;
      break;
    case 0x0c:
    case 0x0d:
      width = 4;
      break;
    case 0x0e:
      width = 8;
      break;
    default:
      return std::nullopt;
  }
  const size_t dims = at(file, 3);
  if (dims == 0 || dims > 64 || file.size() < 4 + 4 * dims) return std::nullopt;
  Array out;
  unsigned __int128 bytes = width, product = width;  // the second with sizes of 0 taken as 1: it must fit, too
  for (size_t d = 0; d < dims; ++d) {
    uint64_t size = 0;
    for (size_t k = 0; k < 4; ++k) size = size * 256 + at(file, 4 + 4 * d + k);
    out.sizes.push_back(static_cast<int64_t>(size));
    bytes *= size;
    product *= size == 0 ? 1 : size;
    if (product >> 63 != 0) return std::nullopt;
  }
  out.bytes = file.substr(4 + 4 * dims);
  if (out.bytes.size() != bytes) return std::nullopt;
  for (size_t i = 0; i < out.bytes.size(); i += width)
    for (size_t k = 0; 2 * k + 1 < width; ++k) std::swap(out.bytes[i + k], out.bytes[i + width - 1 - k]);
  return out;
}

// ---- comma-separated values

using Rows = std::vector<std::vector<std::string>>;

std::optional<Rows> judge_csv(std::string_view s, const io::CsvOptions& options) {
  Rows rows;
  if (s.substr(0, 3) == "\xEF\xBB\xBF") s.remove_prefix(3);
  size_t i = 0;
  while (i < s.size()) {
    auto& row = rows.emplace_back();
    for (bool more = true; more;) {
      std::string field;
      if (i < s.size() && s[i] == '"') {
        for (++i;;) {
          const size_t quote = s.find('"', i);
          if (quote == s.npos) return std::nullopt;
          field += s.substr(i, quote - i);
          i = quote + 1;
          if (i == s.size() || s[i] != '"') break;
          field += s[i++];
        }
      } else {
        const char stops[] = {options.delimiter, '\n', '\r', '"'};
        const size_t end = std::min(s.find_first_of(std::string_view(stops, 4), i), s.size());
        field = s.substr(i, end - i);
        i = end;
      }
      if (field.size() > options.field_bytes || !is_text(field)) return std::nullopt;
      row.push_back(field);
      more = i < s.size() && s[i] == options.delimiter;
      if (more) ++i;
    }
    if (row.size() > options.columns || row.size() != rows[0].size()) return std::nullopt;
    if (i == s.size()) break;
    if (s[i] == '\r') ++i;
    if (i == s.size() || s[i] != '\n') return std::nullopt;
    ++i;
  }
  if (options.header && (rows.empty() || std::set<std::string>(rows[0].begin(), rows[0].end()).size() < rows[0].size()))
    return std::nullopt;
  return rows;
}

// ---- tar

struct Member {
  std::string name;
  int64_t begin, size;
};

std::optional<int64_t> tar_number(std::string_view field) {
  unsigned __int128 value = 0;
  if (at(field, 0) == 0x80) {
    for (size_t i = 1; i < field.size(); ++i) value = value * 256 + at(field, i);
  } else {
    size_t i = 0;
    while (i < field.size() && field[i] == ' ') ++i;
    const size_t first = i;
    for (; i < field.size() && field[i] >= '0' && field[i] < '8'; ++i) value = value * 8 + (at(field, i) - '0');
    if (i == first || (i < field.size() && field[i] != ' ' && field[i] != 0)) return std::nullopt;
  }
  if (value >> 63 != 0) return std::nullopt;
  return static_cast<int64_t>(value);
}

std::optional<std::string> tar_name(std::string name) {
  while (name.size() > 2 && name.substr(0, 2) == "./") name = name.substr(2);
  if (name.empty() || name.size() > 65536 || name[0] == '/' || name.find_first_of(std::string("\0\\", 2)) != name.npos)
    return std::nullopt;
  if (("/" + name + "/").find("/../") != std::string::npos) return std::nullopt;
  return name;
}

// What a pax header says; false where it is not well-formed or says what must not be said.
bool read_pax(std::string_view s, bool global, std::optional<std::string>& name, std::optional<int64_t>& size) {
  while (!s.empty()) {
    const size_t space = s.find(' ');
    if (space == s.npos || space == 0 || space > 60) return false;
    unsigned __int128 length = 0;
    for (const char c : s.substr(0, space)) {
      if (c < '0' || c > '9') return false;
      length = std::min<unsigned __int128>(length * 10 + static_cast<unsigned>(c - '0'), 1U << 30);
    }
    if (length > s.size() || length < space + 3 || s[static_cast<size_t>(length) - 1] != '\n') return false;
    const std::string_view line = s.substr(space + 1, static_cast<size_t>(length) - space - 2);
    s.remove_prefix(static_cast<size_t>(length));
    const size_t equals = line.find('=');
    if (equals == line.npos) return false;
    const std::string_view key = line.substr(0, equals), value = line.substr(equals + 1);
    if (key.substr(0, 10) == "GNU.sparse") return false;
    if (key != "path" && key != "size") continue;
    if (global) return false;
    if (key == "path") {
      if (name) return false;
      name = value;
    } else {
      unsigned __int128 number = 0;
      if (size || value.empty()) return false;
      for (const char c : value) {
        if (c < '0' || c > '9') return false;
        number = number * 10 + static_cast<unsigned>(c - '0');
        if (number >> 63 != 0) return false;
      }
      size = static_cast<int64_t>(number);
    }
  }
  return true;
}

std::optional<std::vector<Member>> judge_tar(std::string_view s) {
  std::vector<Member> out;
  std::optional<std::string> long_name;
  std::optional<int64_t> long_size;
  if (s.substr(0, 2) == "\x1f\x8b") return std::nullopt;
  for (size_t block = 0;;) {
    if (s.size() - block < 512) return std::nullopt;
    const std::string_view h = s.substr(block, 512);
    if (h.find_first_not_of('\0') == h.npos) {
      if (s.size() - block < 1024 || s.find_first_not_of('\0', block) != s.npos || long_name || long_size)
        return std::nullopt;
      return out;
    }
    int64_t sum = 0;
    for (size_t i = 0; i < 512; ++i) sum += i >= 148 && i < 156 ? ' ' : at(h, i);
    const auto size = tar_number(h.substr(124, 12));
    if (h.substr(257, 5) != "ustar" || tar_number(h.substr(148, 8)) != sum || !size) return std::nullopt;
    const size_t data = block + 512, room = s.size() - data;
    const auto padded = [&](int64_t bytes) {
      return data + std::min(room, (static_cast<size_t>(bytes) + 511) / 512 * 512);
    };
    const char type = h[156];
    if (type == 'x' || type == 'g' || type == 'L') {
      if (*size > 1 << 20 || static_cast<size_t>(*size) > room) return std::nullopt;
      const std::string_view content = s.substr(data, static_cast<size_t>(*size));
      if (type == 'L') {
        if (long_name) return std::nullopt;
        long_name = content.substr(0, content.find('\0'));
      } else if (!read_pax(content, type == 'g', long_name, long_size)) {
        return std::nullopt;
      }
      block = padded(*size);
      continue;
    }
    if (type != '0' && type != '\0' && type != '5') return std::nullopt;
    std::string name(h.substr(0, 100).substr(0, h.substr(0, 100).find('\0')));
    const std::string prefix(h.substr(345, 155).substr(0, h.substr(345, 155).find('\0')));
    if (h[262] == '\0' && !prefix.empty()) name = prefix + "/" + name;
    const auto checked = tar_name(long_name.value_or(name));
    const int64_t bytes = long_size.value_or(*size);
    long_name.reset();
    long_size.reset();
    if (!checked || static_cast<uint64_t>(bytes) > room || (type == '5' && bytes != 0)) return std::nullopt;
    if (type != '5') out.push_back({*checked, static_cast<int64_t>(data), bytes});
    block = padded(bytes);
  }
}

// The headers with their checksums, which no mutation finds.
std::string with_checksums(std::string_view input) {
  std::string out(input);
  for (size_t block = 0; block + 512 <= out.size(); block += 512) {
    if (out.compare(block + 257, 5, "ustar") != 0) continue;
    out.replace(block + 148, 8, 8, ' ');
    unsigned sum = 0;
    for (size_t i = 0; i < 512; ++i) sum += static_cast<uint8_t>(out[block + i]);
    char digits[16];
    std::snprintf(digits, sizeof digits, "%06o", sum);
    out.replace(block + 148, 7, digits, 7);
  }
  return out;
}

template <class T>
bool same_bytes(const std::vector<T>& got, std::string_view expected) {
  return got.size() == expected.size() && std::equal(got.begin(), got.end(), expected.begin(), [](T a, char b) {
           return static_cast<uint8_t>(a) == static_cast<uint8_t>(b);
         });
}

}  // namespace

void text(uint8_t, std::string_view input) {
  std::string got;
  if (both_accept<io::FileError>(is_text(input),
                                 [&] { got = io::read_text(io::MemorySource("input", input), 1 << 20); }) &&
      got != input)
    disagree("another text");
}

// Every other input is compressed here.
void idx(uint8_t option, std::string_view input) {
  std::string file(input);
  if (option % 2 == 1) {
    z_stream stream{};
    if (::deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK) std::abort();
    file.resize(::deflateBound(&stream, input.size()));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream.avail_in = static_cast<uInt>(input.size());
    stream.next_out = reinterpret_cast<Bytef*>(file.data());
    stream.avail_out = static_cast<uInt>(file.size());
    if (::deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
    file.resize(stream.total_out);
    ::deflateEnd(&stream);
  }
  const std::optional<Array> expected = judge_idx(file);
  io::IdxArray got;
  if (both_accept<io::FileError>(expected.has_value(), [&] { got = io::read_idx(io::MemorySource("input", file)); }) &&
      (got.sizes != expected->sizes || !same_bytes(got.bytes, expected->bytes)))
    disagree("another array");
}

// Inputs are short: every byte stands for a record's labels, or for the pixels of one record.
void cifar(uint8_t option, std::string_view input) {
  const bool fine = option % 2 == 1;
  const size_t head = fine ? 2 : 1;
  std::string file;
  if (option & 2) {
    for (const char c : input.substr(0, 8)) file += std::string(head, c) + std::string(3072, static_cast<char>(~c));
    if (input.size() > 8) file += input.substr(8);
  } else {
    file = input;
  }
  bool good = !file.empty() && file[0] != '\x80' && file.size() % (head + 3072) == 0;
  std::string labels, coarse, images;
  for (size_t i = 0; good && i < file.size(); i += head + 3072) {
    labels += file[i + head - 1];
    if (fine) coarse += file[i];
    good = at(labels, labels.size() - 1) < (fine ? 100 : 10) && (!fine || at(file, i) < 20);
    images += file.substr(i + head, 3072);
  }
  io::CifarSet got;
  const auto read = [&] {
    got = io::read_cifar(io::MemorySource("input", file), fine ? io::CifarKind::k100 : io::CifarKind::k10);
  };
  if (both_accept<io::FileError>(good, read) &&
      (!same_bytes(got.images, images) || !same_bytes(got.labels, labels) || !same_bytes(got.coarse_labels, coarse)))
    disagree("other images");
}

void csv(uint8_t option, std::string_view input) {
  const io::CsvOptions options{.delimiter = ",;\t "[option >> 1 & 3],
                               .header = option % 2 == 0,
                               .field_bytes = option & 8 ? size_t{8} : size_t{1} << 20,
                               .columns = option & 16 ? size_t{3} : 65536};
  const std::optional<Rows> expected = judge_csv(input, options);
  Rows got;
  const auto read = [&] {
    const io::MemorySource source("input", input);
    io::CsvReader reader(source, options);
    if (options.header) got.push_back(reader.names());
    std::vector<std::string> row;
    while (reader.next(row)) got.push_back(row);
  };
  if (both_accept<io::FileError>(expected.has_value(), read) && got != *expected) disagree("other rows");
}

void tar(uint8_t option, std::string_view input) {
  const std::string file = option % 2 == 0 ? with_checksums(input) : std::string(input);
  const auto expected = judge_tar(file);
  std::vector<Member> got;
  const auto read = [&] {
    const io::MemorySource source("input", file);
    io::TarReader reader(source);
    while (const auto member = reader.next()) got.push_back({member->name, member->offset, member->size});
  };
  if (both_accept<io::FileError>(expected.has_value(), read) &&
      !std::equal(got.begin(), got.end(), expected->begin(), expected->end(), [](const Member& a, const Member& b) {
        return a.name == b.name && a.begin == b.begin && a.size == b.size;
      }))
    disagree("other members");
}

}  // namespace argand::fuzz
