// PyTorch's checkpoint files (.pt, .pth), read as data: nothing in a file is ever run, and what would have to be is an
// error that names it.
//
//   FOLDER/data.pkl       the values (io/pickle.h); tensors name their storages by number
//   FOLDER/data/0 ...     the bytes of each storage, once for all tensors that share it
//   FOLDER/byteorder      "little" or "big"         FOLDER/version  a number
//
// Three more are read: the format from before PyTorch 1.6, which has no zip archive; archives of LibTorch's torch::save
// and of TorchScript, whose objects are given as their named data: parameters, buffers and attributes.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "argand/io/file.h"
#include "argand/io/pickle.h"
#include "argand/io/value.h"

namespace argand::io {

struct LoadOptions {
  // Returns the device for a storage that was saved on `location` ("cpu", "cuda:0"); if not given, that device.
  std::function<Device(const std::string& location)> map_location;
  // Reads a storage at the first access to its elements; for load(path) only (Note [Late reading]).
  bool mmap = false;
  // Whether checksums are compared.  If not given, when the bytes are read.  If true, also now for storages that are
  // read late, which reads the whole file.  The checksum of the structure is compared in any case.
  std::optional<bool> verify;
  // Whether elements are big-endian if the file does not say.
  bool big_endian = false;
  // Whether the names of TorchScript are read without `constants.pkl`, too: LibTorch's pickle_save writes them.
  bool script_names = false;
  size_t max_tensors = size_t{1} << 20;
  PickleLimits pickle;  // tree_bytes is in addition to the size of the file
};

// FormatError with the part of the file and the byte offset of a fault; DeviceError for a device that does not exist.
// Memory: the storages, and the limits of `options` for the rest; time is linear in the file.
Value load_torch(const ByteSource& source, const LoadOptions& options = {});

// The contents of a torch.save file, made before any of it is written.  Tensors that share memory also share it after
// loading.
class TorchImage {
 public:
  // ValueError for values that could not be loaded again.  With `copied`, elements are copied to host memory
  // (page-locked if they come from a GPU), so that the program may change its tensors; else they are those of `value`.
  explicit TorchImage(const Value& value, bool copied = false);
  int64_t bytes() const;  // the size of the values; the file is a little larger
  // `folder` is the name of the archive's only folder.  Passes the file to `write` piece by piece.
  void write(const std::string& folder, const std::function<void(const void*, size_t)>& write) const;
  // Replaces the content of the file, whole or not at all.
  void write_to(const std::string& path, Vfs& vfs = default_vfs()) const;

 private:
  std::string pickle_;
  std::vector<Tensor> storages_;  // each as its bytes
};

// As TorchImage; values that cannot be saved are found before anything is written.
inline void save_torch(const std::string& path, const Value& value) { TorchImage(value).write_to(path); }
inline void write_torch(const Value& value, const std::string& folder,
                        const std::function<void(const void*, size_t)>& write) {
  TorchImage(value).write(folder, write);
}

}  // namespace argand::io
