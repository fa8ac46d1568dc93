// For tests: system calls that fail.
#pragma once
#include <algorithm>
#include <cerrno>
#include <string>

#include "argand/io/file.h"

namespace argand::io::testing {

// Passes calls on to the real system, keeps their names, and lets call number `fail_at` fail with `code`.
// With EINTR the call fails once; with kEnd, a read that fails finds the end of the file; every write is cut short to
// `max_write` bytes and every read to `max_read`.
class FaultyVfs final : public Vfs {
 public:
  static constexpr int kEnd = -1;
  int fail_at = -1;
  int code = EIO;
  size_t max_write = SIZE_MAX, max_read = SIZE_MAX;
  int open_files = 0;
  int calls = 0;
  std::string log;

  int open(const char* p) override { return opened(faulty("open") ? -1 : real_.open(p)); }
  int status(int fd, struct stat& out) override { return faulty("status") ? -1 : real_.status(fd, out); }
  int duplicate(int fd) override { return opened(faulty("duplicate") ? -1 : real_.duplicate(fd)); }
  ssize_t pread(int fd, void* out, size_t n, int64_t at) override {
    if (faulty("read")) return code == kEnd ? 0 : -1;
    return real_.pread(fd, out, std::min(n, max_read), at);
  }
  int create(const char* p) override { return opened(faulty("create") ? -1 : real_.create(p)); }
  int copy_mode(int fd, const char* p) override { return faulty("mode") ? -1 : real_.copy_mode(fd, p); }
  int allocate(int fd, int64_t n) override { return faulty("allocate") ? -1 : real_.allocate(fd, n); }
  ssize_t pwrite(int fd, const void* data, size_t n, int64_t at) override {
    return faulty("write") ? -1 : real_.pwrite(fd, data, std::min(n, max_write), at);
  }
  int fsync(int fd) override { return faulty("fsync") ? -1 : real_.fsync(fd); }
  int rename(const char* a, const char* b) override { return faulty("rename") ? -1 : real_.rename(a, b); }
  int fsync_dir(const char* p) override { return faulty("fsync_dir") ? -1 : real_.fsync_dir(p); }
  int close(int fd) override {
    const int result = real_.close(fd);  // a failed close has closed
    --open_files;
    return faulty("close") ? -1 : result;
  }
  int unlink(const char* p) override { return faulty("unlink") ? -1 : real_.unlink(p); }
  int make_folder(const char* p) override { return faulty("mkdir") ? -1 : real_.make_folder(p); }
  int list(const char* p, std::vector<std::string>& names) override {
    return faulty("list") ? -1 : real_.list(p, names);
  }

 private:
  int opened(int fd) {
    open_files += fd >= 0;
    return fd;
  }
  bool faulty(const char* name) {
    log += name;
    log += ' ';
    if (calls++ != fail_at) return false;
    failed = name;
    errno = code;
    return true;
  }
  Vfs& real_ = posix_vfs();

 public:
  std::string failed;
};

}  // namespace argand::io::testing
