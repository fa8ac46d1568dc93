// The system calls behind AtomicFile on POSIX.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <memory>

#include "argand/io/file.h"

namespace argand::io {

namespace {

int fail_closing(int fd, int code) {
  ::close(fd);
  errno = code;
  return -1;
}

// True if the name `path` still refers to the file behind `fd`.
bool same_file(int fd, const char* path) {
  struct stat ours {
  }, named{};
  return ::fstat(fd, &ours) == 0 && ::lstat(path, &named) == 0 && ours.st_dev == named.st_dev &&
         ours.st_ino == named.st_ino;
}

// A write beyond RLIMIT_FSIZE sends its thread SIGXFSZ, which ends the program unless it is blocked or handled.
class FileSizeSignal {
 public:
  FileSizeSignal() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~FileSizeSignal() {
    const int code = errno;
    if (code == EFBIG && !was_pending_) {
      constexpr timespec kNow{};
      while (::sigtimedwait(&set_, nullptr, &kNow) < 0 && errno == EINTR) {
      }
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = code;
  }
  FileSizeSignal(const FileSizeSignal&) = delete;
  FileSizeSignal& operator=(const FileSizeSignal&) = delete;

 private:
  sigset_t set_, before_;
  bool was_pending_ = false;
};

class PosixVfs final : public Vfs {
 public:
  int open(const char* path) override {
    // Without O_NONBLOCK the open of a FIFO would wait for a writer before we could see that it is one.
    return ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  }
  int status(int fd, struct stat& out) override { return ::fstat(fd, &out); }
  int duplicate(int fd) override { return ::fcntl(fd, F_DUPFD_CLOEXEC, 0); }
  ssize_t pread(int fd, void* out, size_t count, int64_t offset) override { return ::pread(fd, out, count, offset); }

  int create(const char* path) override {
    for (;;) {
      const int fd = ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0666);
      if (fd < 0) return -1;
      struct stat info {};
      if (::fstat(fd, &info) != 0) return fail_closing(fd, errno);
      if (!S_ISREG(info.st_mode)) return fail_closing(fd, EINVAL);
      // Some network file systems have no locks; there, the user must prevent two writers at once.
      if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno != ENOLCK && errno != EOPNOTSUPP && errno != ENOSYS)
        return fail_closing(fd, errno == EWOULDBLOCK ? EBUSY : errno);
      if (same_file(fd, path)) return ::ftruncate(fd, 0) == 0 ? fd : fail_closing(fd, errno);
      ::close(fd);  // its writer renamed or removed it while we came for the lock
    }
  }

  int copy_mode(int fd, const char* path) override {
    struct stat old {
    }, ours{};
    if (::lstat(path, &old) != 0) return errno == ENOENT ? 0 : -1;
    if (!S_ISREG(old.st_mode)) return 0;
    if (::fstat(fd, &ours) != 0) return -1;
    // Only root can change the owner; for other users the file becomes theirs, as with every editor.
    if (old.st_uid != ours.st_uid || old.st_gid != ours.st_gid) (void)!::fchown(fd, old.st_uid, old.st_gid);
    return ::fchmod(fd, old.st_mode & 07777);
  }

  int allocate(int fd, int64_t size) override {
#if defined(__linux__)
    const FileSizeSignal none;
    if (::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, size) == 0) return 0;
    return errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL ? 0 : -1;
#else
    (void)fd, (void)size;
    return 0;
#endif
  }

  ssize_t pwrite(int fd, const void* data, size_t count, int64_t offset) override {
    const FileSizeSignal none;
    return ::pwrite(fd, data, count, offset);
  }
  int fsync(int fd) override { return ::fsync(fd); }
  int rename(const char* from, const char* to) override { return ::rename(from, to); }

  int fsync_dir(const char* folder) override {
    const int fd = ::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno == EACCES ? 0 : -1;  // a folder one may write but not list
    if (::fsync(fd) != 0 && errno != EINVAL && errno != EOPNOTSUPP) return fail_closing(fd, errno);
    return ::close(fd);
  }

  int close(int fd) override { return ::close(fd); }
  int unlink(const char* path) override { return ::unlink(path); }
  int make_folder(const char* path) override { return ::mkdir(path, 0777); }

  int list(const char* folder, std::vector<std::string>& names) override {
    DIR* const entries = ::opendir(folder);
    if (!entries) return -1;
    const auto close = [](DIR* d) { ::closedir(d); };
    const std::unique_ptr<DIR, decltype(close)> closed(entries, close);
    for (;;) {
      errno = 0;
      const dirent* const entry = ::readdir(entries);
      if (!entry) return errno == 0 ? 0 : -1;
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(name);
    }
  }
};

}  // namespace

Vfs& posix_vfs() {
  static PosixVfs vfs;
  return vfs;
}

namespace {
std::atomic<Vfs*> chosen{nullptr};
}

Vfs& default_vfs() {
  Vfs* const vfs = chosen.load();
  return vfs ? *vfs : posix_vfs();
}

void set_default_vfs(Vfs& vfs) { chosen = &vfs; }

}  // namespace argand::io
