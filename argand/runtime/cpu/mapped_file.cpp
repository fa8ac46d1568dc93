#include "argand/runtime/cpu/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "argand/base/error.h"
#include "argand/core/watched_bytes.h"
#include "argand/runtime/cpu/bus_errors.h"

namespace argand {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int get() const { return number_; }

 private:
  int number_;
};

class MappedFile final : public WatchedBytes {
 public:
  MappedFile(std::string path, Descriptor file, size_t first, size_t nbytes, bool shared)
      : path_(std::move(path)),
        file_(std::move(file)),
        first_(first),
        end_(first + nbytes),
        before_(first % static_cast<size_t>(sysconf(_SC_PAGESIZE))),
        mapped_(before_ + nbytes),
        shared_(shared) {
    survive_bus_errors();
    void* const pages = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE, file_.get(),
                             static_cast<off_t>(first - before_));
    ARGAND_CHECK(IoError, pages != MAP_FAILED, "from_file: ", path_, ": ", nbytes,
                 " bytes cannot be mapped: ", std::strerror(errno));
    pages_ = pages;
    try {
      range_ = &watch_range(pages, mapped_, path_.c_str());
    } catch (...) {
      munmap(pages, mapped_);
      throw;
    }
  }
  ~MappedFile() override {
    unwatch_range(*range_);
    munmap(pages_, mapped_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // The part of a page behind the end of a truncated file reads as zeros, without a signal: so the size is checked.
  // Bytes that disappeared once stay invalid when the file grows again.
  void* look() const override {
    struct stat status {};
    const bool known = fstat(file_.get(), &status) == 0;
    const bool shorter = known && static_cast<size_t>(status.st_size) < end_;
    if (shorter) range_->torn.store(true);
    if (!range_->torn.load()) [[likely]]
      return static_cast<char*>(pages_) + before_;
    ARGAND_CHECK(IoError, !shorter, "from_file: ", path_, " was cut while it was mapped: expected ", end_,
                 " bytes, got ", status.st_size);
    ARGAND_THROW(IoError, "from_file: ", path_,
                 " could not be read, or was cut for a while, while it was mapped: expected ", end_,
                 " bytes as they were, got ", status.st_size, " now");
  }
  WatchedRange& range() const { return *range_; }
  const std::string& path() const { return path_; }
  // Whether it is the beginning of a file to which writes go.
  bool is_shared_beginning() const { return shared_ && first_ == 0; }

 private:
  const std::string path_;
  const Descriptor file_;
  const size_t first_, end_;      // of the bytes of the file
  const size_t before_, mapped_;  // bytes of the first page before them, and of all pages
  const bool shared_;
  void* pages_ = nullptr;
  WatchedRange* range_ = nullptr;
};

}  // namespace

StoragePtr map_file(int descriptor, const std::string& path, size_t nbytes, bool shared, size_t first) {
  Descriptor file(descriptor);
  struct stat status {};
  ARGAND_CHECK(IoError, fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode),
               "from_file: expected a regular file, got ", path);
  const size_t end = first + nbytes;
  if (static_cast<size_t>(status.st_size) < end) {
    ARGAND_CHECK(IoError, shared, "from_file: expected ", end, " bytes in ", path, ", which has ", status.st_size);
    ARGAND_CHECK(IoError, ftruncate(file.get(), static_cast<off_t>(end)) == 0, "from_file: ", path, " cannot be made ",
                 end, " bytes long: ", std::strerror(errno));
  }
  const auto mapped = std::make_shared<MappedFile>(path, std::move(file), first, nbytes, shared);
  return StoragePtr(watched_storage(nbytes, kCPU, mapped->range(), mapped));
}

std::string path_of_mapped(const StorageImpl& storage) {
  const WatchedRange* const range = watched_range_of(storage);
  const auto* const file = range ? dynamic_cast<const MappedFile*>(range->bytes.load()) : nullptr;
  return file && file->is_shared_beginning() ? file->path() : "";
}

}  // namespace argand
