// c10d::FileStore: see argand/parallel/store/file_store.h.
#pragma once
#include "argand/parallel/store/file_store.h"
#include "torch/csrc/distributed/c10d/wrapped_store.h"

namespace c10d {

class FileStore : public detail::WrappedStore {
 public:
  FileStore(std::string path, int numWorkers)
      : WrappedStore(std::make_shared<argand::parallel::FileStore>(path, numWorkers)), path_(std::move(path)) {}
  const std::string& getPath() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace c10d
