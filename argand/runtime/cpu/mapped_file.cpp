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
  MappedFile(std::string path, Descriptor file, size_t nbytes, bool shared)
      : path_(std::move(path)), file_(std::move(file)), nbytes_(nbytes), shared_(shared) {
    survive_bus_errors();
    void* const data = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE, file_.get(), 0);
    ARGAND_CHECK(IoError, data != MAP_FAILED, "from_file: ", path_, ": ", nbytes,
                 " bytes cannot be mapped: ", std::strerror(errno));
    data_ = data;
    try {
      range_ = &watch_range(data, nbytes, path_.c_str());
    } catch (...) {
      munmap(data, nbytes);
      throw;
    }
  }
  ~MappedFile() override {
    unwatch_range(*range_);
    munmap(data_, nbytes_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // The part of a page behind the end of a truncated file reads as zeros, without a signal: so the size is checked.
  // Bytes that disappeared once stay invalid when the file grows again.
  void* look() const override {
    struct stat status {};
    const bool known = fstat(file_.get(), &status) == 0;
    const bool shorter = known && static_cast<size_t>(status.st_size) < nbytes_;
    if (shorter) range_->torn.store(true);
    if (!range_->torn.load()) [[likely]]
      return data_;
    ARGAND_CHECK(IoError, !shorter, "from_file: ", path_, " was cut while it was mapped: expected ", nbytes_,
                 " bytes, got ", status.st_size);
    ARGAND_THROW(IoError, "from_file: ", path_,
                 " could not be read, or was cut for a while, while it was mapped: expected ", nbytes_,
                 " bytes as they were, got ", status.st_size, " now");
  }
  WatchedRange& range() const { return *range_; }
  const std::string& path() const { return path_; }
  bool shared() const { return shared_; }

 private:
  const std::string path_;
  const Descriptor file_;
  const size_t nbytes_;
  const bool shared_;
  void* data_ = nullptr;
  WatchedRange* range_ = nullptr;
};

}  // namespace

StoragePtr map_file(int descriptor, const std::string& path, size_t nbytes, bool shared) {
  Descriptor file(descriptor);
  struct stat status {};
  ARGAND_CHECK(IoError, fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode),
               "from_file: expected a regular file, got ", path);
  if (static_cast<size_t>(status.st_size) < nbytes) {
    ARGAND_CHECK(IoError, shared, "from_file: expected ", nbytes, " bytes in ", path, ", which has ", status.st_size);
    ARGAND_CHECK(IoError, ftruncate(file.get(), static_cast<off_t>(nbytes)) == 0, "from_file: ", path,
                 " cannot be made ", nbytes, " bytes long: ", std::strerror(errno));
  }
  const auto mapped = std::make_shared<MappedFile>(path, std::move(file), nbytes, shared);
  return StoragePtr(watched_storage(nbytes, kCPU, mapped->range(), mapped));
}

std::string path_of_mapped(const StorageImpl& storage) {
  const WatchedRange* const range = watched_range_of(storage);
  const auto* const file = range ? dynamic_cast<const MappedFile*>(range->bytes.load()) : nullptr;
  return file && file->shared() ? file->path() : "";
}

}  // namespace argand
