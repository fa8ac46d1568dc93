#include "argand/parallel/store/file_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "argand/base/hash.h"
#include "argand/parallel/interrupt.h"

namespace argand::parallel {
namespace {

constexpr std::string_view kMagic = "argand-file-store 1 ";
constexpr size_t kHeader = kMagic.size() + 16 + 1;
constexpr size_t kNumber = sizeof(uint32_t);

std::string make_header() {
  std::random_device random;
  std::string header(kMagic);
  for (int i = 0; i < 16; ++i) header += "0123456789abcdef"[random() % 16];
  return header + "\n";
}

uint32_t checksum(std::string_view record) { return static_cast<uint32_t>(hash_bytes(record.data(), record.size())); }

uint32_t number_at(const uint8_t* data) {
  return uint32_t{data[0]} | uint32_t{data[1]} << 8 | uint32_t{data[2]} << 16 | uint32_t{data[3]} << 24;
}

// Unlocks before anything else: a child that was forked meanwhile may hold a copy of the descriptor for a moment.
class Unlock {
 public:
  explicit Unlock(Descriptor& file) : file_(file) {}
  ~Unlock() {
    if (!file_) return;
    ::flock(file_.fd(), LOCK_UN);
    file_.close();
  }

 private:
  Descriptor& file_;
};

}  // namespace

void FileLog::fail(const char* what) const {
  throw StoreError(str("FileStore: ", what, " ", path_, ": ", std::strerror(errno)));
}

// False where the file was removed before the lock was had.
bool FileLog::open_locked(bool exclusive) {
  const int flags = O_RDWR | O_CLOEXEC | (header_.empty() ? O_CREAT : 0);
  file_ = Descriptor([&] { return ::open(path_.c_str(), flags, 0644); });
  if (!file_) fail("cannot open");
  while (::flock(file_.fd(), exclusive ? LOCK_EX : LOCK_SH) != 0) {
    if (errno != EINTR) fail("cannot lock");
    check_interrupt();
  }
  struct stat opened {};
  if (::fstat(file_.fd(), &opened) != 0) fail("cannot look at");
  return opened.st_nlink > 0;
}

void FileLog::with_lock(bool exclusive, Replay replay, function_ref<void()> act) {
  const Unlock unlock(file_);
  while (!open_locked(exclusive)) {
    if (!header_.empty()) throw StoreError(str("FileStore: ", path_, " was removed while it was in use"));
    ::flock(file_.fd(), LOCK_UN);
    file_.close();
  }
  read_new(replay);
  act();
}

std::string FileLog::read(uint64_t begin, uint64_t end) const {
  std::string bytes(end - begin, '\0');
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t got = ::pread(file_.fd(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(begin + done));
    if (got == 0) bytes.resize(done);
    if (got < 0 && errno != EINTR) fail("cannot read");
    if (got > 0) done += static_cast<size_t>(got);
  }
  return bytes;
}

void FileLog::check_header(uint64_t size) {
  const std::string header = read(0, std::min<uint64_t>(size, kHeader));
  const size_t common = std::min(header.size(), kMagic.size());
  if (header.compare(0, common, kMagic, 0, common) != 0)
    throw StoreError(str("FileStore: ", path_, " is no file of a FileStore, and not empty"));
  if (!header_.empty() && header != header_)
    throw StoreError(str("FileStore: ", path_, " was replaced while it was in use"));
  if (header.size() < kHeader) return;
  header_ = header;
  end_ = std::max<uint64_t>(end_, kHeader);
}

void FileLog::read_new(Replay replay) {
  struct stat now {};
  if (::fstat(file_.fd(), &now) != 0) fail("cannot look at");
  const auto size = static_cast<uint64_t>(now.st_size);
  check_header(size);
  if (header_.empty()) return;
  if (size < end_) throw StoreError(str("FileStore: ", path_, " was cut off while it was in use"));
  const std::string bytes = read(end_, size);
  const auto* const data = reinterpret_cast<const uint8_t*>(bytes.data());
  size_t at = 0;
  while (bytes.size() - at >= kNumber) {
    const uint8_t* const record = data + at;
    const size_t length = kNumber + number_at(record), left = bytes.size() - at;
    if (length + kNumber > left) break;
    const bool good = checksum({bytes.data() + at, length}) == number_at(record + length);
    if (!good && length + kNumber == left) break;
    try {
      if (!good) throw wire::WireError("a checksum does not match");
      replay(wire::parse_request(record + kNumber, length - kNumber));
    } catch (const wire::WireError& e) {
      throw StoreError(str("FileStore: ", path_, " is damaged at byte ", end_ + at, ": ", e.msg()));
    }
    at += length + kNumber;
  }
  end_ += at;
}

void FileLog::write_at_end(const std::string& bytes) {
  // Cuts off what a killed writer left.
  if (::ftruncate(file_.fd(), static_cast<off_t>(end_)) != 0) fail("cannot write to");
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t put = ::pwrite(file_.fd(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(end_ + done));
    if (put < 0 && errno != EINTR) fail("cannot write to");
    if (put > 0) done += static_cast<size_t>(put);
  }
  end_ += bytes.size();
}

void FileLog::append(const wire::Request& request) {
  const Store::Value message = wire::encode(request);
  std::string bytes = header_.empty() ? make_header() : "";
  const std::string header = bytes;
  bytes.append(message.begin(), message.end());
  const uint32_t sum = checksum(std::string_view(bytes).substr(header.size()));
  for (size_t i = 0; i < kNumber; ++i) bytes += static_cast<char>(sum >> (8 * i));
  write_at_end(bytes);
  if (!header.empty()) header_ = header;
}

void FileLog::remove_file() { ::unlink(path_.c_str()); }

}  // namespace argand::parallel
