#include "argand/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <numeric>

#include "argand/core/late_bytes.h"
#include "argand/core/watched_bytes.h"
#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"
#include "argand/io/file.h"
#include "argand/io/safetensors_header.h"
#include "argand/io/zip.h"
#include "argand/ops/functions.h"
#include "argand/runtime/backend.h"

namespace argand::io {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are stored least significant byte first");

struct NamedType {
  const char* name;
  ScalarType dtype;
};
constexpr NamedType kTypes[] = {{"F64", kDouble}, {"F32", kFloat}, {"F16", kHalf},        {"BF16", kBFloat16},
                                {"I64", kLong},   {"I32", kInt},   {"I16", kShort},       {"I8", kChar},
                                {"U8", kByte},    {"BOOL", kBool}, {"C64", kComplexFloat}};

std::optional<ScalarType> dtype_named(const std::string& name) {
  for (const NamedType& t : kTypes)
    if (name == t.name) return t.dtype;
  return std::nullopt;
}

const char* name_of(ScalarType dtype) {
  for (const NamedType& t : kTypes)
    if (dtype == t.dtype) return t.name;
  ARGAND_THROW(DtypeError, "save_safetensors: the format has no dtype for ", dtype);
}

template <class... Parts>
void require(bool condition, const std::string& path, const Parts&... parts) {
  if (!condition) throw FileError(str(path, ": not a valid safetensors file: ", parts...), path, 0);
}

TensorHeader read_header(const ByteSource& file, int64_t& header_bytes) {
  const std::string& path = file.path();
  require(file.size() >= 8, path, "it has ", file.size(), " bytes; the length of the header alone takes 8");
  uint64_t length = 0;
  file.read(0, &length, 8);
  require(length <= kMaxHeaderBytes && static_cast<int64_t>(length) <= file.size() - 8, path,
          "the header's length is given as ", length, " bytes, the file has ", file.size());
  std::string text(static_cast<size_t>(length), '\0');
  file.read(8, text.data(), text.size());
  header_bytes = 8 + static_cast<int64_t>(length);
  try {
    return parse_tensor_header(text, kTreeBytes + static_cast<size_t>(file.size()));
  } catch (const ValueError& e) {
    throw FileError(str(path, ": not a valid safetensors file: ", e.what()), path, 0);
  }
}

// Tensors must cover the bytes after the header exactly: no holes, no overlaps, nothing behind them.
void check_layout(const std::string& path, const TensorHeader& header, int64_t data_bytes) {
  std::vector<size_t> order(header.tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const TensorEntry &x = header.tensors[a], &y = header.tensors[b];
    return std::pair(x.begin, x.end) < std::pair(y.begin, y.end);
  });
  int64_t at = 0;
  for (const size_t i : order) {
    const TensorEntry& t = header.tensors[i];
    require(t.begin == at, path, "tensor '", t.name, "' begins at byte ", t.begin, " of the data; expected ", at);
    at = t.end;
  }
  require(at == data_bytes, path, "its tensors take ", at, " bytes and it holds ", data_bytes);
}

constexpr size_t kDigits = 8;

std::string hexadecimal(uint32_t value) {
  char text[kDigits + 1];
  std::snprintf(text, sizeof text, "%08x", value);
  return text;
}

// The metadata entry of a tensor, up to the digits.
std::string before_digits(const TensorEntry& entry) {
  std::string text = entry.dtype + ' ';
  for (size_t i = 0; i < entry.shape.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(entry.shape[i]);
  return text + ' ';
}

Metadata without_checksums(const Metadata& metadata) {
  Metadata out;
  for (const auto& item : metadata)
    if (!item.key().starts_with(kChecksum)) out.insert(item.key(), item.value());
  return out;
}

// The digits for this tensor; empty where the metadata have none.
std::string checksum_in(const Metadata& metadata, const TensorEntry& entry) {
  const std::string* const text = metadata.find(kChecksum + entry.name);
  const std::string before = before_digits(entry);
  return text && text->size() == before.size() + kDigits && text->starts_with(before) ? text->substr(before.size())
                                                                                      : "";
}

void compare(const std::string& path, const TensorEntry& entry, const void* data, const std::string& expected) {
  const std::string found = hexadecimal(crc32_of(data, static_cast<size_t>(entry.end - entry.begin)));
  require(found == expected, path, "tensor '", entry.name, "' has the checksum ", found, ", its metadata say ",
          expected,
          "; the file is damaged, or was changed by a program that kept its metadata (verify=false reads it)");
}

// `checksum`: to be compared, if not empty.
Tensor read_tensor(const ByteSource& file, int64_t header_bytes, const TensorEntry& entry,
                   const std::shared_ptr<const InputFile>& late, const SafetensorsOptions& options,
                   const std::string& checksum) {
  const auto dtype = dtype_named(entry.dtype);
  require(dtype.has_value(), file.path(), "tensor '", entry.name, "' has the unknown dtype '", entry.dtype, "'");
  int64_t bytes = element_size(*dtype);
  bool overflow = false, zero = false;
  for (const int64_t s : entry.shape) {  // sizes beside a 0 make strides: they must fit, too
    zero |= s == 0;
    overflow |= __builtin_mul_overflow(bytes, std::max<int64_t>(s, 1), &bytes);
  }
  if (zero) bytes = 0;
  require(!overflow && bytes == entry.end - entry.begin, file.path(), "tensor '", entry.name, "' of shape ",
          IntArrayRef(entry.shape), " and dtype ", entry.dtype, " does not take the ", entry.end - entry.begin,
          " bytes it is given");
  const int64_t begin = header_bytes + entry.begin;
  const auto fill = [entry, begin, bytes, checksum, dtype = *dtype](const ByteSource& from, void* out) {
    if (bytes > 0) from.read(begin, out, static_cast<size_t>(bytes));
    if (!checksum.empty()) compare(from.path(), entry, out, checksum);
    auto* p = static_cast<uint8_t*>(out);
    for (int64_t i = 0; dtype == kBool && i < bytes; ++i) p[i] = p[i] != 0;  // any byte but 0 is true
  };
  const Tensor t = exec::new_tensor({Dims(entry.shape), *dtype}, kCPU);
  if (!late || bytes == 0 || options.verify.value_or(false)) fill(file, bytes > 0 ? raw<char>(t) : nullptr);
  if (!late || bytes == 0) return t;
  auto storage =
      late_storage(static_cast<size_t>(bytes), allocator_for(kCPU), [late, fill](void* out) { fill(*late, out); });
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), Dims(t.sizes()), Dims(t.strides()), 0, *dtype));
}

}  // namespace

bool is_safetensors(const ByteSource& source) {
  unsigned char head[9] = {};
  if (source.size() < 10) return false;
  source.read(0, head, sizeof head);
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | head[i];
  return head[8] == '{' && length <= static_cast<uint64_t>(source.size() - 8);
}

bool is_shard_index(const ByteSource& source) {
  char first = 0;
  if (source.size() < 2) return false;
  source.read(0, &first, 1);
  return first == '{';
}

TensorFile load_shards(const InputFile& index, const SafetensorsOptions& options) {
  const std::string& path = index.path();
  const auto check = [&](bool condition, const auto&... parts) {
    if (!condition) throw FileError(str(path, ": not a valid index of safetensors files: ", parts...), path, 0);
  };
  check(index.size() <= static_cast<int64_t>(kMaxHeaderBytes), "it has ", index.size(), " bytes");
  std::string text(static_cast<size_t>(index.size()), '\0');
  index.read(0, text.data(), text.size());
  OrderedDict<std::string, std::string> map;
  try {
    map = parse_shard_index(text, kTreeBytes + text.size());
  } catch (const ValueError& e) {
    check(false, e.what());
  }
  OrderedDict<std::string, TensorFile> files;
  for (const auto& item : map) {
    if (files.contains(item.value())) continue;
    TensorFile file = load_safetensors(path.substr(0, path.rfind('/') + 1) + item.value(), options);
    for (const auto& tensor : file.tensors) {
      const std::string* in = map.find(tensor.key());
      check(in && *in == item.value(), "'", item.value(), "' holds '", tensor.key(), "', which the index ",
            in ? "has in '" + *in + "'" : std::string("does not name"));
    }
    files.insert(item.value(), std::move(file));
  }
  TensorFile out;
  for (const auto& item : map) {
    const Tensor* tensor = files.find(item.value())->tensors.find(item.key());
    check(tensor, "'", item.value(), "' lacks '", item.key(), "'");
    out.tensors.insert(item.key(), *tensor);
  }
  return out;
}

TensorFile load_safetensors(const ByteSource& file, const SafetensorsOptions& options) {
  int64_t header_bytes = 0;
  const TensorHeader header = read_header(file, header_bytes);
  check_layout(file.path(), header, file.size() - header_bytes);
  TensorFile out;
  out.metadata = without_checksums(header.metadata);
  std::shared_ptr<const InputFile> late;
  if (const auto* input = dynamic_cast<const InputFile*>(&file); input && options.mmap) late = input->kept_open();
  const bool compared = options.verify.value_or(true);
  size_t found = 0;
  for (const TensorEntry& entry : header.tensors) {
    const std::string checksum = checksum_in(header.metadata, entry);
    found += !checksum.empty();
    out.tensors.insert(entry.name, read_tensor(file, header_bytes, entry, late, options, compared ? checksum : ""));
  }
  out.has_checksums = found > 0 && found == header.tensors.size();
  return out;
}

void write_safetensors(const StateDict& tensors, const Metadata& metadata, const std::function<void(int64_t)>& reserve,
                       const std::function<void(const void*, size_t)>& write, bool checksums) {
  TensorHeader header;
  header.metadata = without_checksums(metadata);
  std::vector<Tensor> dense;
  int64_t at = 0;
  for (const auto& item : tensors) {
    const Tensor t = exec::dense(item.value().cpu());
    const auto end = at + static_cast<int64_t>(t.nbytes());
    header.tensors.push_back({item.key(), name_of(t.dtype()), t.sizes().vec(), at, end});
    at = end;
    dense.push_back(t);
    if (!checksums) continue;
    const TensorEntry& entry = header.tensors.back();
    const uint32_t checksum = crc32_of(t.numel() > 0 ? raw<char>(t) : nullptr, t.nbytes());
    header.metadata.insert(kChecksum + entry.name, before_digits(entry) + hexadecimal(checksum));
  }
  const std::string json = write_tensor_header(header);
  parse_tensor_header(
      json,
      kTreeBytes + json.size() +
          static_cast<size_t>(at));  // what could not be read back (a name that is no UTF-8, ...) is not written either
  const uint64_t length = json.size();
  reserve(8 + static_cast<int64_t>(length) + at);
  write(&length, 8);
  write(json.data(), json.size());
  for (const Tensor& t : dense) {
    if (t.numel() > 0) write(raw<char>(t), t.nbytes());
    check_watched(*t.storage());
  }
}

void save_safetensors(const std::string& path, const StateDict& tensors, const Metadata& metadata, bool checksums) {
  std::optional<AtomicFile> file;  // opened only when the header is known to be good
  write_safetensors(
      tensors, metadata, [&](int64_t bytes) { file.emplace(path).reserve(bytes); },
      [&](const void* data, size_t count) { file->write(data, count); }, checksums);
  file->commit();
}

}  // namespace argand::io
