// A file as memory.
//
// Note [Mapped files]
// A page of a mapped file is read when it is first touched.  Where the file was shortened meanwhile, there is no page,
// and the system sends the process SIGBUS, which ends it.  So the first mapping installs a handler for that signal: in
// a mapping of ours it puts a page of zeros there, says so on stderr once for each mapping, and the program goes on;
// anywhere else it does what was done before.  What is promised: load() itself reads all structure by pread() and, with
// `verify`, every byte, so a file that is cut before or while it is loaded is an error; a file that is cut later gives
// zeros for what is gone, a message, and damaged().  A file that is written into while it is mapped gives the old or
// the new bytes, as every mapping.  Writing to such tensors never reaches the file.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace argand::io {

class InputFile;

class MappedFile {
 public:
  // Private pages: writing changes the memory and not the file.  FileError if the system refuses.
  static std::shared_ptr<MappedFile> map(const InputFile& file);
  // The paths of those that are in use and damaged.  Any thread may ask.
  static std::vector<std::string> all_damaged();
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  uint8_t* data() const { return data_; }
  int64_t size() const { return size_; }
  // Whether bytes of the file were gone when they were looked at.
  bool damaged() const;

 private:
  MappedFile(std::string path, uint8_t* data, int64_t size, int slot);
  const std::string path_;
  uint8_t* data_;
  int64_t size_;
  int slot_;
};

}  // namespace argand::io
