// Files.  All reading and writing of Argand goes through here, so that damage, full disks and crashes are handled in
// one place. Reading accepts only regular files (a FIFO, a device or a folder is refused and never blocks), with exact
// counts and size limits. Writing uses AtomicFile: at any moment, even after a crash, the path holds the whole old or
// the whole new content. Every failure throws FileError with the path and the system's reason.  Each object belongs to
// one thread.
#pragma once
#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "argand/base/error.h"

namespace argand::io {

// For a full disk: the bytes that the file needs (at least) and those that its file system had left.
struct DiskSpace {
  int64_t needed, free;
};

// An IoError that knows its file and the errno (0 where the file system is not to blame).
class FileError : public IoError {
 public:
  FileError(const std::string& message, std::string path, int code, std::optional<DiskSpace> space = std::nullopt)
      : IoError(message), path_(std::move(path)), code_(code), space_(space) {}
  const std::string& path() const noexcept { return path_; }
  int code() const noexcept { return code_; }
  const std::optional<DiskSpace>& space() const noexcept { return space_; }  // for a full disk (ENOSPC, EDQUOT)

 private:
  std::string path_;
  int code_;
  std::optional<DiskSpace> space_;
};

// The system calls behind files, so that tests can make each of them fail.  Each returns what the system call of its
// name returns: a value >= 0, or -1 with errno set.
class Vfs {
 public:
  virtual ~Vfs() = default;
  // open() opens `path` for reading and never blocks; status() tells what it is.
  virtual int open(const char* path) = 0;
  virtual int status(int fd, struct stat& out) = 0;
  virtual int duplicate(int fd) = 0;  // another descriptor of the open file
  virtual ssize_t pread(int fd, void* out, size_t count, int64_t offset) = 0;
  // Opens `path` for writing, empty and locked against other writers (EBUSY where one has it).
  virtual int create(const char* path) = 0;
  // Gives `fd` the mode and, where allowed, the owner of `path`; 0 where `path` does not exist.
  virtual int copy_mode(int fd, const char* path) = 0;
  virtual int allocate(int fd, int64_t size) = 0;  // reserves disk space; 0 where the file system cannot
  // Beyond the largest file that is allowed (RLIMIT_FSIZE): EFBIG, and no signal.
  virtual ssize_t pwrite(int fd, const void* data, size_t count, int64_t offset) = 0;
  virtual int fsync(int fd) = 0;
  virtual int rename(const char* from, const char* to) = 0;
  virtual int fsync_dir(const char* folder) = 0;
  virtual int close(int fd) = 0;
  virtual int unlink(const char* path) = 0;
  virtual int make_folder(const char* path) = 0;  // EEXIST where there is anything of that name
  // Appends the names in a folder, except "." and "..", to `names`.
  virtual int list(const char* folder, std::vector<std::string>& names) = 0;
};

Vfs& posix_vfs();
// The default for all callers: posix_vfs(), or what a test has set in its place.
Vfs& default_vfs();
void set_default_vfs(Vfs& vfs);

// Bytes that can be read at any offset.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  const std::string& path() const { return path_; }  // the file's path, or the source's name in messages
  int64_t size() const { return size_; }             // when it was opened
  // Reads exactly `count` bytes from `offset`; throws if the source ends before.
  virtual void read(int64_t offset, void* out, size_t count) const = 0;

 protected:
  explicit ByteSource(std::string path, int64_t size = 0) : path_(std::move(path)), size_(size) {}
  [[noreturn]] void throw_end(int64_t at, int64_t offset, size_t count) const;
  std::string path_;
  int64_t size_;
};

// A regular file open for reading; it may be truncated while it is read.
class InputFile final : public ByteSource {
 public:
  explicit InputFile(std::string path, Vfs& vfs = default_vfs());
  ~InputFile() override;
  void read(int64_t offset, void* out, size_t count) const override;
  // A second handle to the file for later reads: it stays open while the handle lives, even if its path is reused.
  std::shared_ptr<const InputFile> kept_open() const;

 private:
  InputFile(const InputFile& other, int fd) : ByteSource(other.path(), other.size()), vfs_(other.vfs_), fd_(fd) {}
  Vfs& vfs_;
  int fd_ = -1;
};

// Bytes in memory, which must outlive the source.
class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string name, std::string_view bytes)
      : ByteSource(std::move(name), static_cast<int64_t>(bytes.size())), bytes_(bytes) {}
  void read(int64_t offset, void* out, size_t count) const override;

 private:
  std::string_view bytes_;
};

constexpr int64_t kMaxWholeFile = int64_t{1} << 32;

// Reads the whole file; refuses one larger than `max_bytes` before it allocates.
std::vector<uint8_t> read_file(const ByteSource& file, int64_t max_bytes = kMaxWholeFile);
inline std::vector<uint8_t> read_file(const std::string& path, int64_t max_bytes = kMaxWholeFile) {
  return read_file(InputFile(path), max_bytes);
}

std::string folder_of(const std::string& path);  // "." for a name alone

// Replaces the content of `path`, whole or not at all:
//
//   lock and fill PATH.tmp -> fsync -> rename over PATH -> fsync of the folder
//
// Nothing is visible at PATH before commit(), and when commit() returns the content survives a power loss.  On any
// failure, and in the destructor without commit(), PATH.tmp is removed and PATH is as it was.  Only where the last step
// fails (the fsync of the folder) does commit() throw with the new content, whole, in place.  A PATH.tmp left by a
// killed process is taken over.  A replaced file keeps its mode; a symbolic link is replaced, not followed; devices and
// folders are refused.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path, Vfs& vfs = default_vfs());
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Optional: announces the size, so that a full disk is found before the first byte is written.
  void reserve(int64_t total_bytes);
  void write(const void* data, size_t count);
  void write(std::string_view text) { write(text.data(), text.size()); }
  int64_t size() const { return written_ + static_cast<int64_t>(buffer_.size()); }
  void commit();

 private:
  void write_out(const uint8_t* data, size_t count);
  void flush();
  void abandon() noexcept;
  [[noreturn]] void fail(const char* what, int code, int64_t pending = 0);

  Vfs& vfs_;
  std::string path_, temp_, folder_;
  std::vector<uint8_t> buffer_;  // gathers small writes
  int fd_ = -1;
  int64_t written_ = 0;   // bytes handed to the system
  int64_t expected_ = 0;  // as told to reserve()
};

// A new empty file in $TMPDIR or /tmp, whose name begins with `prefix`; its path.
std::string make_temporary_file(const std::string& prefix);

void write_file(const std::string& path, std::string_view content, Vfs& vfs = default_vfs());

}  // namespace argand::io
