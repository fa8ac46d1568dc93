#include "argand/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "argand/base/path.h"

namespace argand::io {

namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;
// Linux moves at most 2 GiB - 4 KiB in one call; smaller pieces also keep a signal from waiting long.
constexpr size_t kMaxTransfer = size_t{1} << 30;

std::string reason(int code) { return std::generic_category().message(code); }

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

template <class Call>
auto retry(Call call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

}  // namespace

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void ByteSource::throw_end(int64_t at, int64_t offset, size_t count) const {
  throw FileError(str("'", path_, "' ends at byte ", at, ": expected ", count, " bytes from byte ", offset, ", got ",
                      std::max<int64_t>(0, at - offset)),
                  path_, 0);
}

InputFile::InputFile(std::string path, Vfs& vfs) : ByteSource(std::move(path)), vfs_(vfs) {
  check_path(path_);
  fd_ = retry([&] { return vfs_.open(path_.c_str()); });
  if (fd_ < 0) {
    const int code = errno;
    throw FileError(str("cannot read '", path_, "': ", reason(code)), path_, code);
  }
  struct stat info {};
  const int code = retry([&] { return vfs_.status(fd_, info); }) != 0 ? errno : 0;
  if (code != 0 || !S_ISREG(info.st_mode)) {
    vfs_.close(fd_);
    throw FileError(str("cannot read '", path_, "': ", code ? reason(code) : str("it is ", kind_of(info.st_mode))),
                    path_, code);
  }
  size_ = info.st_size;
}

InputFile::~InputFile() {
  if (fd_ >= 0) vfs_.close(fd_);
}

std::shared_ptr<const InputFile> InputFile::kept_open() const {
  // Allocations come first, so that no descriptor is left open if one fails.
  const std::shared_ptr<InputFile> out(new InputFile(*this, -1));
  out->fd_ = retry([&] { return vfs_.duplicate(fd_); });
  if (out->fd_ < 0) {
    const int code = errno;
    throw FileError(str("cannot read '", path_, "': ", reason(code)), path_, code);
  }
  return out;
}

void InputFile::read(int64_t offset, void* out, size_t count) const {
  auto* to = static_cast<uint8_t*>(out);
  size_t done = 0;
  while (done < count) {
    const int64_t at = offset + static_cast<int64_t>(done);
    const ssize_t n = retry([&] { return vfs_.pread(fd_, to + done, std::min(count - done, kMaxTransfer), at); });
    if (n < 0) {
      const int code = errno;
      throw FileError(str("cannot read '", path_, "' at byte ", at, ": ", reason(code)), path_, code);
    }
    if (n == 0) throw_end(at, offset, count);
    done += static_cast<size_t>(n);
  }
}

void MemorySource::read(int64_t offset, void* out, size_t count) const {
  if (offset < 0 || offset > size_ || static_cast<size_t>(size_ - offset) < count) throw_end(size_, offset, count);
  if (count > 0) std::memcpy(out, bytes_.data() + offset, count);
}

std::vector<uint8_t> read_file(const ByteSource& file, int64_t max_bytes) {
  if (file.size() > max_bytes)
    throw FileError(str("'", file.path(), "' is too large: expected at most ", max_bytes, " bytes, got ", file.size()),
                    file.path(), 0);
  std::vector<uint8_t> bytes(static_cast<size_t>(file.size()));
  file.read(0, bytes.data(), bytes.size());
  return bytes;
}

AtomicFile::AtomicFile(std::string path, Vfs& vfs)
    : vfs_(vfs), path_(std::move(path)), temp_(path_ + ".tmp"), folder_(folder_of(path_)) {
  check_path(path_);
  struct stat info {};
  // A rename would replace a device (as root even /dev/full) by our file.
  if (::lstat(path_.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode))
    throw FileError(str("cannot write '", path_, "': it is ", kind_of(info.st_mode)), path_, 0);
  buffer_.reserve(kBufferBytes);
  fd_ = retry([&] { return vfs_.create(temp_.c_str()); });
  if (fd_ < 0) {
    const int code = errno;
    throw FileError(str("cannot write '", path_, "': ", code == EBUSY ? "another process is writing it" : reason(code)),
                    path_, code);
  }
  if (retry([&] { return vfs_.copy_mode(fd_, path_.c_str()); }) != 0) fail("cannot write", errno);
}

AtomicFile::~AtomicFile() { abandon(); }

void AtomicFile::abandon() noexcept {
  if (fd_ < 0) return;
  // Closing the descriptor releases the lock, so the name must be removed first.
  vfs_.unlink(temp_.c_str());
  vfs_.close(fd_);
  fd_ = -1;
}

void AtomicFile::fail(const char* what, int code, int64_t pending) {
  abandon();
  std::string message = str(what, " '", path_, "': ", reason(code));
  std::optional<DiskSpace> space;
  struct statvfs disk {};
  if ((code == ENOSPC || code == EDQUOT) && ::statvfs(folder_.c_str(), &disk) == 0) {
    space = {std::max(expected_, written_ + pending), static_cast<int64_t>(disk.f_bavail * disk.f_frsize)};
    message += space->needed > 0 ? str(" (", space->needed, " bytes needed, ", space->free, " free)")
                                 : str(" (", space->free, " free)");
  }
  throw FileError(message, path_, code, space);
}

void AtomicFile::reserve(int64_t total_bytes) {
  ARGAND_CHECK(ValueError, fd_ >= 0, "AtomicFile: '", path_, "' is already committed or has failed");
  expected_ = total_bytes;
  if (total_bytes > 0 && retry([&] { return vfs_.allocate(fd_, total_bytes); }) != 0) fail("cannot write", errno);
}

void AtomicFile::write(const void* data, size_t count) {
  ARGAND_CHECK(ValueError, fd_ >= 0, "AtomicFile: '", path_, "' is already committed or has failed");
  const auto* bytes = static_cast<const uint8_t*>(data);
  if (buffer_.size() + count > kBufferBytes) flush();
  if (count > kBufferBytes) return write_out(bytes, count);
  buffer_.insert(buffer_.end(), bytes, bytes + count);
}

void AtomicFile::flush() {
  if (buffer_.empty()) return;
  write_out(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void AtomicFile::write_out(const uint8_t* data, size_t count) {
  while (count > 0) {
    const ssize_t n = retry([&] { return vfs_.pwrite(fd_, data, std::min(count, kMaxTransfer), written_); });
    // A write of 0 bytes sets no errno; it means that the device is full.
    if (n <= 0) fail("cannot write", n < 0 ? errno : ENOSPC, static_cast<int64_t>(count));
    data += n;
    count -= static_cast<size_t>(n);
    written_ += n;
  }
}

void AtomicFile::commit() {
  ARGAND_CHECK(ValueError, fd_ >= 0, "AtomicFile: '", path_, "' is already committed or has failed");
  flush();
  if (retry([&] { return vfs_.fsync(fd_); }) != 0) fail("cannot write", errno);
  if (retry([&] { return vfs_.rename(temp_.c_str(), path_.c_str()); }) != 0) fail("cannot replace", errno);
  // The descriptor stays open up to here: its lock keeps another writer from emptying the file before it is renamed.
  const int folder_code = retry([&] { return vfs_.fsync_dir(folder_.c_str()); }) != 0 ? errno : 0;
  // After an interrupted close the descriptor is closed on Linux: a second close could hit another file's descriptor.
  const int close_code = vfs_.close(fd_) != 0 && errno != EINTR ? errno : 0;
  fd_ = -1;
  if (const int code = folder_code ? folder_code : close_code)
    throw FileError(str("'", path_, "' is written, but may not survive a power loss: ", reason(code)), path_, code);
}

void write_file(const std::string& path, std::string_view content, Vfs& vfs) {
  AtomicFile file(path, vfs);
  file.reserve(static_cast<int64_t>(content.size()));
  file.write(content);
  file.commit();
}

std::string make_temporary_file(const std::string& prefix) {
  const char* folder = std::getenv("TMPDIR");
  std::string path = str(folder && *folder ? folder : "/tmp", "/", prefix, "XXXXXX");
  const int fd = ::mkstemp(path.data());
  if (fd < 0) {
    const int code = errno;
    throw FileError(str("cannot make a temporary file '", path, "': ", reason(code)), path, code);
  }
  ::close(fd);
  return path;
}

}  // namespace argand::io
