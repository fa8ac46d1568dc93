// c10::make_tempfile(): an empty file in the folder for temporary files, removed at the end of the scope.
#pragma once
#include <cstdio>
#include <string>

#include "argand/io/file.h"
#include "c10/namespaces.h"

namespace c10 {

struct TempFile {
  explicit TempFile(const std::string& prefix) : name(argand::io::make_temporary_file(prefix)) {}
  ~TempFile() {
    if (!name.empty()) std::remove(name.c_str());
  }
  TempFile(TempFile&& o) noexcept : name(std::move(o.name)) { o.name.clear(); }
  TempFile& operator=(TempFile&&) = delete;
  std::string name;
};

// IoError if none can be made.
inline TempFile make_tempfile(const std::string& name_prefix = "torch-file-") { return TempFile(name_prefix); }

}  // namespace c10
