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
  // Where a storage goes that was saved on `location` ("cpu", "cuda:0"); there, if not given.
  std::function<Device(const std::string& location)> map_location;
  // Storages are read when somebody first looks at them: for load(path) alone (Note [Late reading]).
  bool mmap = false;
  // Whether checksums are compared.  If not given: when the bytes are read.  If true, those of what is read late are
  // compared now, too, which reads it all.  The structure's is compared in any case.
  std::optional<bool> verify;
  // Whether bytes of elements are stored most significant first where the file does not say.
  bool big_endian = false;
  // Whether the names of TorchScript are read without `constants.pkl`, too: LibTorch's pickle_save writes them.
  bool script_names = false;
  size_t max_tensors = size_t{1} << 20;
  PickleLimits pickle;  // its tree_bytes beyond the size of the file
};

// FormatError with the part of the file and the byte for what is not as it must be; DeviceError for a device that is
// not there.  Memory: the storages, and limits for the rest; time is linear in the file.
Value load_torch(const ByteSource& source, const LoadOptions& options = {});

// What a file of torch.save holds, made before any of it is written.  Tensors that share memory share it again when
// they are loaded.
class TorchImage {
 public:
  // ValueError for what cannot be loaded again.  With `copied`, the elements are copies in memory of the host
  // (page-locked where they come from a GPU), so that the program may change its tensors; else they are those of
  // `value`.
  explicit TorchImage(const Value& value, bool copied = false);
  int64_t bytes() const;  // of the values: the file is a little larger
  // `folder` is what the archive calls its only folder.  Gives the file to `write` piece by piece.
  void write(const std::string& folder, const std::function<void(const void*, size_t)>& write) const;
  // Replaces the content of the file, whole or not at all.
  void write_to(const std::string& path, Vfs& vfs = default_vfs()) const;

 private:
  std::string pickle_;
  std::vector<Tensor> storages_;  // each as its bytes
};

// As TorchImage; what cannot be saved is known before anything is written.
inline void save_torch(const std::string& path, const Value& value) { TorchImage(value).write_to(path); }
inline void write_torch(const Value& value, const std::string& folder,
                        const std::function<void(const void*, size_t)>& write) {
  TorchImage(value).write(folder, write);
}

}  // namespace argand::io
