#include "argand/io/torch_file.h"

#include <algorithm>

#include "argand/core/grad_mode.h"
#include "argand/exec/cuda.h"
#include "argand/exec/invoke.h"
#include "argand/io/format_error.h"
#include "argand/io/torch_names.h"
#include "argand/io/torch_storage.h"
#include "argand/io/zip.h"
#include "argand/ops/functions.h"

namespace argand::io {

namespace {

constexpr int64_t kNewestVersion = 10;

bool is_number(std::string_view text, size_t max_digits) {
  return !text.empty() && text.size() <= max_digits &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Only under these folders does an archive of TorchScript have files of any name; they are not read.
bool is_script_file(std::string_view name) {
  return name == "constants.pkl" || name.substr(0, 5) == "code/" || name.substr(0, 10) == "constants/" ||
         name.substr(0, 6) == "extra/";
}

ZipDirectory::Allow allowed(std::string_view name) {
  using Allow = ZipDirectory::Allow;
  for (const std::string_view known :
       {"data.pkl", "version", "byteorder", ".data/serialization_id", ".format_version", ".storage_alignment"})
    if (name == known) return Allow::kStored;
  if (name.substr(0, 5) == "data/") return is_number(name.substr(5), 9) ? Allow::kStored : Allow::kNo;
  if (!is_script_file(name) || name.back() == '/' || name.find("//") != std::string_view::npos) return Allow::kNo;
  for (size_t at = 0; at != std::string_view::npos; at = name.find('/', at + 1))
    if (name.substr(at, 4) == "/../" || name.substr(at) == "/..") return Allow::kNo;
  return Allow::kUnread;
}

bool is_big_endian(const ZipDirectory& zip) {
  const ZipMember* member = zip.find("byteorder");
  if (!member) return false;  // from before the record was written
  const std::string order = zip.read(*member, 64);
  if (order != "little" && order != "big") zip.fail(*member, 0, "an unknown byte order");
  return order == "big";
}

void check_version(const ZipDirectory& zip) {
  const ZipMember* member = zip.find("version");
  if (!member) throw FormatError(zip.source().path(), "version", 0, "there is no such record");
  std::string text = zip.read(*member, 64);
  if (!text.empty() && text.back() == '\n') text.pop_back();
  if (!is_number(text, 6) || std::stoll(text) < 1) zip.fail(*member, 0, "expected a number");
  if (std::stoll(text) > kNewestVersion)
    zip.fail(*member, 0, str("the format's version is ", text, "; up to ", kNewestVersion, " are read"));
}

Value load_archive(const ByteSource& source, const LoadOptions& options) {
  const ZipDirectory zip(source, options.max_tensors + 64, allowed);
  const bool script = zip.find("constants.pkl") != nullptr;
  for (const ZipMember& m : zip.members())
    if (!script && is_script_file(m.name)) zip.fail(m, 0, "not a name that is read");
  const ZipMember* pickle = zip.find("data.pkl");
  if (!pickle) throw FormatError(source.path(), "data.pkl", 0, "there is no such record");
  check_version(zip);
  const bool big = is_big_endian(zip);
  std::shared_ptr<MappedFile> map;
  if (const auto* file = dynamic_cast<const InputFile*>(&source); file && options.mmap && !big)
    map = MappedFile::map(*file);

  const auto storage = [&](const StorageRequest& request) {
    const ZipMember* member = is_number(request.key, 9) ? zip.find("data/" + request.key) : nullptr;
    ARGAND_CHECK(ValueError, member, "there is no record data/", request.key.substr(0, 20));
    const int64_t bytes = request.numel * element_size(request.dtype);
    ARGAND_CHECK(ValueError, bytes == member->size, "storage ", request.key, " has ", request.numel, " elements, ",
                 bytes, " bytes; its record has ", member->size);
    const Device device = place_of(request, options);
    if (map && device.is_cpu()) {
      if (const Tensor t = map_storage(request, map, member->begin); t.defined()) {
        if (options.verify.value_or(false)) zip.verify(*member);
        return t;
      }
    }
    const bool verify = options.verify.value_or(true);
    return read_storage(request, device, big, [&](void* out, size_t) { zip.read(*member, out, verify); });
  };
  TorchNames names(storage, script || options.script_names, options.max_tensors);
  const std::string bytes = zip.read(*pickle, source.size());
  PickleLimits limits = options.pickle;
  limits.tree_bytes += static_cast<size_t>(source.size());  // the pickle and the storages together are as large again
  Value out = read_pickle(bytes, names, {source.path(), "data.pkl"}, limits);
  if (map && map->damaged()) throw FormatError(source.path(), "", 0, "the file was shortened while it was loaded");
  return out;
}

}  // namespace

Value load_torch(const ByteSource& source, const LoadOptions& options) {
  if (ZipDirectory::begins(source)) return load_archive(source, options);
  if (is_legacy(source)) return load_legacy(source, options);
  throw FormatError(source.path(), "", 0, "this is no file of torch.save");
}

TorchImage::TorchImage(const Value& value, bool copied) {
  TorchForms forms;
  pickle_ = write_pickle(value, forms);
  bool waits = false;
  for (const Tensor& t : forms.storages()) {
    const auto size = static_cast<int64_t>(t.storage()->nbytes());
    Tensor bytes = exec::alias(t, {size}, {1}, 0, kByte);
    if (copied) {
      const bool from_gpu = bytes.device().is_cuda();
      const NoGradGuard no_grad;
      const Tensor copy = empty({size}, TensorOptions(kByte).pinned_memory(from_gpu));
      copy.copy_(bytes, /*non_blocking=*/from_gpu);
      waits |= from_gpu;
      bytes = copy;
    }
    storages_.push_back(std::move(bytes));
  }
  if (!copied) return;
  if (waits)
    for (const Tensor& t : forms.storages())
      if (t.device().is_cuda()) cuda::current_stream(t.device().index()).synchronize();
  // What is still to be computed is computed by this thread.
  for (const Tensor& t : storages_) t.impl().data();
}

int64_t TorchImage::bytes() const {
  auto sum = static_cast<int64_t>(pickle_.size());
  for (const Tensor& t : storages_) sum += t.numel();
  return sum;
}

void TorchImage::write(const std::string& folder, const std::function<void(const void*, size_t)>& write) const {
  std::string name = folder.empty() || folder == "." || folder == ".." ? "archive" : folder;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '\\' || c == '\0'; }, '_');
  ZipWriter zip(name, write);
  zip.add("data.pkl", pickle_);
  zip.add(".format_version", "1");
  zip.add(".storage_alignment", "64");
  zip.add("byteorder", "little");
  for (size_t i = 0; i < storages_.size(); ++i) {
    const Tensor all = storages_[i].cpu();
    zip.add(str("data/", i), all.numel() > 0 ? raw<char>(all) : nullptr, static_cast<size_t>(all.numel()));
  }
  zip.add("version", "3\n");
  zip.finish();
}

void TorchImage::write_to(const std::string& path, Vfs& vfs) const {
  const std::string name = path.substr(path.rfind('/') + 1);
  AtomicFile file(path, vfs);
  file.reserve(bytes());
  write(name.substr(0, name.rfind('.')), [&](const void* data, size_t count) { file.write(data, count); });
  file.commit();
}

}  // namespace argand::io
