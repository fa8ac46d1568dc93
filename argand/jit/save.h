// Writes TorchScript archives: what torch::jit::load and PyTorch's torch.jit.load read (argand/jit/load.h).
//
// The code is written as it was read, and the data anew from what the module holds: parameters, buffers and attributes
// with their declared types.  Tensors that are one tensor, or views of one storage, are so again in the archive.
#pragma once
#include <functional>

#include "argand/jit/module.h"

namespace argand::jit {

// An archive, made before any of it is written.
class ArchiveImage {
 public:
  // ValueError for what no archive holds: values nested too deeply, objects that hold themselves, tensors without
  // elements of their own (on the device meta).  `module` must not change until the image is written.
  explicit ArchiveImage(const Module& module, const ExtraFilesMap& extra_files = {});
  // `folder` is the name of the archive's only folder.  Passes the file to `write` piece by piece.
  void write(const std::string& folder, const std::function<void(const void*, size_t)>& write) const;

 private:
  struct Record {
    std::string pickle;
    std::vector<Tensor> storages;
  };
  Record constants_, data_;
  int64_t version_;
  ObjectPtr module_;  // keeps the program, whose files are written
  ExtraFilesMap extra_files_;
};

}  // namespace argand::jit
