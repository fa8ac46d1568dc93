// A zip archive of torch.save, opened: the pickle of its values, and its storages one by one.
//
// Note [Late reading]
// With `mmap`, a storage is read when somebody first looks at one of its elements, and its checksum is compared then;
// the file stays open until then, so that it may be replaced or removed meanwhile.  The pages are not those of the
// file: where a mapped file is cut, the system has no page to show, and what looks at it cannot be told by an
// exception.  A read can: the look at a storage that is no longer there is an error, every time, and no element is ever
// made up.
#pragma once
#include <string>

#include "argand/io/torch_file.h"
#include "argand/io/torch_storage.h"
#include "argand/io/zip.h"

namespace argand::io {

class TorchArchive {
 public:
  // FormatError for what is not as it must be.  `source` outlives the archive, not the storages that are read late.
  TorchArchive(const ByteSource& source, LoadOptions options);

  const ByteSource& source() const { return zip_.source(); }
  bool is_script() const { return zip_.find("constants.pkl") != nullptr; }
  std::string pickle() const;
  // ValueError where its record is missing or has another size.
  Tensor storage(const StorageRequest& request) const;

 private:
  const LoadOptions options_;
  const ZipDirectory zip_;
  bool big_ = false;
  std::shared_ptr<const InputFile> file_;  // for storages that are read late; else null
};

}  // namespace argand::io
