// A zip archive of torch.save, opened: the pickle of its values, and its storages one by one.
//
// Note [Late reading]
// With `mmap`, a storage is read, and its checksum compared, at the first access to one of its elements.  The file
// stays open until then, so it may be replaced or removed in the meantime.  The file is not really memory-mapped: if a
// mapped file is truncated, the system raises a signal at an access, and a C++ program cannot turn that into an
// exception.  A read can fail with an error: each access to a storage that is no longer there throws, and no element is
// ever made up.
#pragma once
#include <map>
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
  int64_t version() const { return version_; }  // of the format; ops of old archives mean something else
  std::string pickle() const { return record("data.pkl"); }
  // FormatError if there is no such record.
  std::string record(const std::string& name) const;
  // ValueError if its record is missing or has another size.  `folder`: "data", or "constants" for those of the code.
  Tensor storage(const StorageRequest& request, const char* folder = "data") const;
  // The files under a folder ("code/", "extra/") by their names from the root, uncompressed.  FormatError if they have
  // more than `max_bytes` together.
  std::map<std::string, std::string> files(std::string_view folder, int64_t max_bytes) const;

 private:
  const LoadOptions options_;
  const ZipDirectory zip_;
  int64_t version_ = 0;
  bool big_ = false;
  std::shared_ptr<const InputFile> file_;  // for storages that are read late; else null
};

}  // namespace argand::io
