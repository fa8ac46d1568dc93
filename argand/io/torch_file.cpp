#include "argand/io/torch_file.h"

#include <algorithm>

#include "argand/core/grad_mode.h"
#include "argand/core/watched_bytes.h"
#include "argand/exec/invoke.h"
#include "argand/exec/stream.h"
#include "argand/io/format_error.h"
#include "argand/io/torch_archive.h"
#include "argand/io/torch_names.h"
#include "argand/io/utf8.h"
#include "argand/ops/functions.h"

namespace argand::io {

namespace {

Value load_archive(const ByteSource& source, const LoadOptions& options) {
  const TorchArchive archive(source, options);
  TorchNames names([&](const StorageRequest& request) { return archive.storage(request); },
                   archive.is_script() || options.script_names, options.max_tensors);
  PickleLimits limits = options.pickle;
  limits.tree_bytes += static_cast<size_t>(source.size());  // the pickle and the storages together are as large again
  return read_pickle(archive.pickle(), names, {source.path(), "data.pkl"}, limits);
}

Tensor bytes_of(const Tensor& t) {
  return exec::alias(t, {static_cast<int64_t>(t.storage()->nbytes())}, {1}, 0, kByte);
}

}  // namespace

void add_storages(ZipWriter& zip, const char* folder, const std::vector<Tensor>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor all = bytes_of(tensors[i]).cpu();
    zip.add(str(folder, "/", i), all.numel() > 0 ? raw<char>(all) : nullptr, static_cast<size_t>(all.numel()));
    check_watched(*all.storage());
  }
}

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
    Tensor bytes = bytes_of(t);
    if (copied) {
      const bool from_gpu = bytes.is_accelerator();
      const NoGradGuard no_grad;
      const Tensor copy = empty({bytes.numel()}, TensorOptions(kByte).pinned_memory(from_gpu));
      copy.copy_(bytes, /*non_blocking=*/from_gpu);
      waits |= from_gpu;
      bytes = copy;
    }
    storages_.push_back(std::move(bytes));
  }
  if (!copied) return;
  if (waits)
    for (const Tensor& t : forms.storages())
      if (t.is_accelerator()) current_stream(t.device()).synchronize();
  // Delayed work is computed by this thread.
  for (const Tensor& t : storages_) t.impl().data();
}

int64_t TorchImage::bytes() const {
  auto sum = static_cast<int64_t>(pickle_.size());
  for (const Tensor& t : storages_) sum += t.numel();
  return sum;
}

void TorchImage::write(const std::string& folder, const std::function<void(const void*, size_t)>& write) const {
  const bool usable = !folder.empty() && folder != "." && folder != ".." && is_utf8(folder);
  std::string name = usable ? folder : "archive";
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '\\' || c == '\0'; }, '_');
  ZipWriter zip(name, write);
  zip.add("data.pkl", pickle_);
  zip.add(".format_version", "1");
  zip.add(".storage_alignment", "64");
  zip.add("byteorder", "little");
  add_storages(zip, "data", storages_);
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
