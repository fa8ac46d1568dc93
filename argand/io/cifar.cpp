#include "argand/io/cifar.h"

#include <filesystem>

#include "argand/io/file.h"

namespace argand::io {

namespace {

template <class... Parts>
[[noreturn]] void fail(const std::string& path, const Parts&... parts) {
  throw FileError(str("'", path, "': ", parts...), path, 0);
}

constexpr const char* kBinary = "the binary version is (cifar-10-binary.tar.gz, cifar-100-binary.tar.gz)";

// Appends what `file` holds.
void add(CifarSet& out, const ByteSource& file, CifarKind kind) {
  const std::string& path = file.path();
  const int64_t head = kind == CifarKind::k10 ? 1 : 2, record = head + CifarSet::kPixels;
  char first = 0;
  if (file.size() > 0) file.read(0, &first, 1);
  if (first == '\x80') fail(path, "this is a pickle, of the version for Python, which is not read; ", kBinary);
  if (file.size() % record != 0 || file.size() == 0)
    fail(path, "expected records of ", record, " bytes, got ", file.size(), " bytes: ", file.size() % record,
         " too many");
  const auto count = static_cast<size_t>(file.size() / record), before = static_cast<size_t>(out.count);
  out.images.resize((before + count) * size_t{CifarSet::kPixels});
  for (size_t i = 0; i < count; ++i) {
    uint8_t labels[2] = {};
    const int64_t at = static_cast<int64_t>(i) * record;
    file.read(at, labels, static_cast<size_t>(head));
    const auto check = [&](const char* what, int label, int classes) {
      if (label >= classes) fail(path, "expected ", what, " from 0 to ", classes - 1, ", got ", label, " at index ", i);
    };
    if (kind == CifarKind::k10) {
      check("labels", labels[0], 10);
    } else {
      check("coarse labels", labels[0], 20);
      check("labels", labels[1], 100);
      out.coarse_labels.push_back(labels[0]);
    }
    out.labels.push_back(labels[head - 1]);
    file.read(at + head, out.images.data() + (before + i) * size_t{CifarSet::kPixels}, size_t{CifarSet::kPixels});
  }
  out.count += static_cast<int64_t>(count);
}

}  // namespace

CifarSet read_cifar(const ByteSource& file, CifarKind kind) {
  CifarSet out;
  add(out, file, kind);
  return out;
}

CifarSet load_cifar(const std::string& folder, CifarKind kind, bool train) {
  std::vector<std::string> names = {kind == CifarKind::k100 ? (train ? "train" : "test") : "test_batch"};
  if (kind == CifarKind::k10 && train)
    names = {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"};
  CifarSet out;
  for (const std::string& name : names) {
    const std::string path = str(folder, "/", name), binary = path + ".bin";
    std::error_code ignored;
    if (!std::filesystem::exists(binary, ignored) && std::filesystem::exists(path, ignored))
      fail(folder, "holds '", name, "', a pickle of the version for Python, which is not read; ", kBinary);
    add(out, InputFile(binary), kind);
  }
  return out;
}

}  // namespace argand::io
