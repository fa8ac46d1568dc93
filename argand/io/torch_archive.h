// A zip archive of torch.save, opened: the pickle of its values, and its storages one by one.
//
// Note [Late reading]
// With `mmap`, a storage is read, and its checksum compared, at the first access to one of its elements.  The file
// stays open until then, so it may be replaced or removed in the meantime.  The file is not really memory-mapped: if a
// mapped file is truncated, the system raises a signal at an access, and a C++ program cannot turn that into an
// exception.  A read can fail with an error: each access to a storage that is no longer there throws, and no element is
// ever made up.
#pragma once
#include <string>

#include "argand/io/torch_file.h"
#include "argand/io/torch_storage.h"
#include "argand/io/zip.h"

namespace argand::io {

class TorchArchive {
 public:
  // FormatError for a malformed archive.  `source` must outlive the archive, but not the storages that are read late.
  TorchArchive(const ByteSource& source, LoadOptions options);

  const ByteSource& source() const { return zip_.source(); }
  bool is_script() const { return zip_.find("constants.pkl") != nullptr; }
  std::string pickle() const;
  // ValueError if its record is missing or has another size.
  Tensor storage(const StorageRequest& request) const;

 private:
  const LoadOptions options_;
  const ZipDirectory zip_;
  bool big_ = false;
  std::shared_ptr<const InputFile> file_;  // for storages that are read late; else null
};

}  // namespace argand::io
