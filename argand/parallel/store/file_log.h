// The file behind a FileStore: a log of the changes that several processes made to their table.
//
//   file   = "argand-file-store 1 ", 16 random digits, "\n", records
//   record = a request of wire.h, u32 checksum of it
//
// A writer holds an exclusive lock (flock), so an incomplete record at the end comes from a writer that was killed:
// readers ignore it, and the next writer truncates it.
#pragma once
#include "argand/base/function_ref.h"
#include "argand/base/path.h"
#include "argand/parallel/store/socket.h"
#include "argand/parallel/store/wire.h"

namespace argand::parallel {

// Not thread-safe.  All methods throw StoreError, with the file's name, where the system refuses something, where the
// file is none of a FileStore, is damaged before its end, or was removed while it was in use.
class FileLog {
 public:
  explicit FileLog(std::string path) : path_(std::move(path)) { check_path(path_); }

  // Locks the file, calls `replay` for each record that is new to this object, and then `act`.  The file is made if it
  // is not there at the first call.
  using Replay = function_ref<void(const wire::Request&)>;
  void with_lock(bool exclusive, Replay replay, function_ref<void()> act);
  // Writes a record; to be called within an exclusive `act`.
  void append(const wire::Request& request);
  void remove_file();
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const char* what) const;
  bool open_locked(bool exclusive);
  std::string read(uint64_t begin, uint64_t end) const;
  void check_header(uint64_t size);
  void read_new(Replay replay);
  void write_at_end(const std::string& bytes);

  std::string path_;
  Descriptor file_;     // during with_lock
  std::string header_;  // empty before the first record; tells whether the file is still the same
  uint64_t end_ = 0;    // the end of the part that was read
};

}  // namespace argand::parallel
