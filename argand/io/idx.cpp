#include "argand/io/idx.h"

#include <algorithm>
#include <array>
#include <bit>

#include "argand/base/array_ref.h"
#include "argand/base/checked.h"
#include "argand/io/file.h"
#include "argand/io/gzip.h"

namespace argand::io {

namespace {

constexpr int64_t kMagicBytes = 4;
constexpr size_t kPiece = size_t{1} << 16;

template <class... Parts>
[[noreturn]] void fail(const std::string& path, const Parts&... parts) {
  throw FileError(str("'", path, "': ", parts...), path, 0);
}

std::string hex(ArrayRef<uint8_t> bytes) {
  std::string text;
  for (const uint8_t b : bytes) {
    if (!text.empty()) text += ' ';
    text += "0123456789abcdef"[b >> 4];
    text += "0123456789abcdef"[b & 15];
  }
  return text;
}

bool is_known(uint8_t type) { return type == 0x08 || type == 0x09 || (type >= 0x0b && type <= 0x0e); }

// Header bytes 0-3: the type and the number of dimensions.
int parse_magic(const std::string& path, const std::array<uint8_t, kMagicBytes>& magic, IdxArray& array) {
  if (magic[0] != 0 || magic[1] != 0 || !is_known(magic[2]))
    fail(path, "bad magic at byte 0: expected an IDX file (00 00, type 08 to 0e, dimensions), got ",
         hex({magic.data(), magic.size()}));
  if (magic[3] < 1 || magic[3] > kMaxIdxDims)
    fail(path, "bad magic at byte 3: expected 1 to ", kMaxIdxDims, " dimensions, got ", static_cast<int>(magic[3]));
  array.type = static_cast<IdxType>(magic[2]);
  return magic[3];
}

void parse_sizes(ArrayRef<uint8_t> header, IdxArray& array) {
  for (size_t i = 0; i < header.size(); i += 4) {
    uint32_t size = 0;
    for (size_t k = 0; k < 4; ++k) size = size << 8 | header[i + k];
    array.sizes.push_back(size);
  }
}

// Bytes of elements that the header promises.  A zero size makes the array empty, but not the product of the others
// legal.
int64_t payload_bytes(const std::string& path, const IdxArray& array) {
  CheckedSize bytes(static_cast<int64_t>(size_of(array.type)), "IDX sizes");
  bool empty = false;
  try {
    for (const int64_t size : array.sizes) {
      empty |= size == 0;
      bytes.mul(std::max<int64_t>(size, 1));
    }
  } catch (const ValueError&) {
    fail(path, "sizes at byte 4: expected fewer than 2^63 bytes of elements, got sizes ",
         ArrayRef<int64_t>(array.sizes));
  }
  return empty ? 0 : bytes.value();
}

void to_host_order(IdxArray& array) {
  const size_t width = size_of(array.type);
  if constexpr (std::endian::native == std::endian::big) return;
  if (width == 1) return;
  for (size_t i = 0; i < array.bytes.size(); i += width)
    std::reverse(array.bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 array.bytes.begin() + static_cast<std::ptrdiff_t>(i + width));
}

IdxArray read_plain(const ByteSource& file) {
  IdxArray array;
  std::array<uint8_t, kMagicBytes> magic{};
  file.read(0, magic.data(), magic.size());
  std::vector<uint8_t> header(static_cast<size_t>(4 * parse_magic(file.path(), magic, array)));
  file.read(kMagicBytes, header.data(), header.size());
  parse_sizes(header, array);

  const int64_t begin = kMagicBytes + static_cast<int64_t>(header.size());
  const int64_t expected = payload_bytes(file.path(), array), got = file.size() - begin;
  if (expected != got)
    fail(file.path(), "elements at byte ", begin, ": expected ", expected, " bytes for sizes ",
         ArrayRef<int64_t>(array.sizes), ", got ", got);
  array.bytes.resize(static_cast<size_t>(expected));
  file.read(begin, array.bytes.data(), array.bytes.size());
  return array;
}

// Inflates the whole content and keeps none of it: what is wrong is known before anything is allocated for it.
void check_content(ArrayRef<uint8_t> compressed, const std::string& path, int64_t begin, int64_t elements) {
  const int64_t expected = begin + elements;
  GzipReader gzip(compressed, path);
  std::vector<uint8_t> piece(kPiece);
  for (int64_t done = 0; done < expected;) {
    const size_t count = static_cast<size_t>(std::min<int64_t>(expected - done, kPiece));
    const size_t got = gzip.read(piece.data(), count);
    done += static_cast<int64_t>(got);
    if (got != count)
      fail(path, "ends at byte ", done, " of its content: expected ", elements, " bytes from byte ", begin, ", got ",
           done - begin);
  }
  gzip.finish();
}

// Offsets in the errors count the bytes of the content, not of the compressed file.
IdxArray read_compressed(const ByteSource& file) {
  const std::string& path = file.path();
  const std::vector<uint8_t> compressed = read_file(file);
  GzipReader gzip(compressed, path);
  const auto read_exactly = [&](int64_t offset, uint8_t* out, size_t count) {
    if (const size_t got = gzip.read(out, count); got != count)
      fail(path, "ends at byte ", offset + static_cast<int64_t>(got), " of its content: expected ", count,
           " bytes from byte ", offset, ", got ", got);
  };
  IdxArray array;
  std::array<uint8_t, kMagicBytes> magic{};
  read_exactly(0, magic.data(), magic.size());
  std::vector<uint8_t> header(static_cast<size_t>(4 * parse_magic(path, magic, array)));
  read_exactly(kMagicBytes, header.data(), header.size());
  parse_sizes(header, array);

  const int64_t begin = kMagicBytes + static_cast<int64_t>(header.size());
  const int64_t expected = payload_bytes(path, array);
  const int64_t most = static_cast<int64_t>(compressed.size()) * GzipReader::kMaxRatio;
  if (expected > most)
    fail(path, "elements at byte ", begin, ": expected ", expected, " bytes for sizes ", ArrayRef<int64_t>(array.sizes),
         ", but ", compressed.size(), " compressed bytes can hold at most ", most);
  check_content(compressed, path, begin, expected);
  array.bytes.resize(static_cast<size_t>(expected));
  read_exactly(begin, array.bytes.data(), array.bytes.size());
  return array;
}

}  // namespace

size_t size_of(IdxType type) {
  switch (type) {
    case IdxType::kUInt8:
    case IdxType::kInt8:
      return 1;
    case IdxType::kInt16:
      return 2;
    case IdxType::kInt32:
    case IdxType::kFloat32:
      return 4;
    case IdxType::kFloat64:
      return 8;
  }
  ARGAND_THROW(ValueError, "IDX: no element type ", static_cast<int>(type));
}

int64_t IdxArray::numel() const { return static_cast<int64_t>(bytes.size() / size_of(type)); }

IdxArray read_idx(const ByteSource& file) {
  std::array<uint8_t, 3> start{};
  const auto known = static_cast<size_t>(std::min<int64_t>(file.size(), start.size()));
  file.read(0, start.data(), known);
  IdxArray array = is_gzip({start.data(), known}) ? read_compressed(file) : read_plain(file);
  to_host_order(array);
  return array;
}

}  // namespace argand::io
