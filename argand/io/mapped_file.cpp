#include "argand/io/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <system_error>

#include "argand/io/file.h"

namespace argand::io {

namespace {

// What the signal handler may look at: no locks, no heap.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0}, end{0};  // end is 0 while there is no mapping
  std::atomic<bool> damaged{false};
};
constexpr int kSlots = 1024;
Slot slots[kSlots];
struct sigaction action_before;

// The mappings that are in use; not for the handler.
std::mutex mappings_mutex;
std::vector<const MappedFile*>& mappings() {
  static auto* const all = new std::vector<const MappedFile*>;  // tensors may outlive static objects
  return *all;
}

void handle(int signal, siginfo_t* info, void* context) {
  const int code = errno;
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Slot& slot : slots) {
    const uintptr_t begin = slot.begin.load(), end = slot.end.load();
    if (at < begin || at >= end) continue;
    const auto page_size = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    void* const page = reinterpret_cast<void*>(at / page_size * page_size);
    if (::mmap(page, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
      break;
    if (!slot.damaged.exchange(true)) {
      static constexpr char text[] =
          "argand: a memory-mapped checkpoint was shortened while it was in use; the elements that are gone read as "
          "0\n";
      [[maybe_unused]] const ssize_t written = ::write(2, text, sizeof text - 1);
    }
    errno = code;
    return;
  }
  if ((action_before.sa_flags & SA_SIGINFO) != 0 && action_before.sa_sigaction)
    return action_before.sa_sigaction(signal, info, context);
  if (action_before.sa_handler != SIG_DFL && action_before.sa_handler != SIG_IGN)
    return action_before.sa_handler(signal);
  // Back where it happened, the signal comes again and ends the process as if we had never been here.
  ::signal(SIGBUS, SIG_DFL);
}

void install_once() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    return ::sigaction(SIGBUS, &action, &action_before) == 0;
  }();
  (void)installed;
}

void unmap(uint8_t* data, size_t size, int slot) {
  slots[slot].end = 0;
  ::munmap(data, size);
  slots[slot].taken = false;
}

}  // namespace

std::shared_ptr<MappedFile> MappedFile::map(const InputFile& file) {
  const auto fail = [&](int code) {
    throw FileError(str("cannot map '", file.path(), "': ", std::generic_category().message(code)), file.path(), code);
  };
  if (file.size() == 0) fail(EINVAL);
  install_once();
  int slot = 0;
  while (slot < kSlots && slots[slot].taken.exchange(true)) ++slot;
  if (slot == kSlots) fail(EMFILE);
  const auto size = static_cast<size_t>(file.size());
  void* const data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.descriptor(), 0);
  if (data == MAP_FAILED) {
    const int code = errno;
    slots[slot].taken = false;
    fail(code);
  }
  slots[slot].damaged = false;
  slots[slot].begin = reinterpret_cast<uintptr_t>(data);
  slots[slot].end = reinterpret_cast<uintptr_t>(data) + size;
  std::shared_ptr<MappedFile> out;
  try {
    out.reset(new MappedFile(file.path(), static_cast<uint8_t*>(data), file.size(), slot));
  } catch (...) {
    unmap(static_cast<uint8_t*>(data), size, slot);
    throw;
  }
  return out;
}

MappedFile::MappedFile(std::string path, uint8_t* data, int64_t size, int slot)
    : path_(std::move(path)), data_(data), size_(size), slot_(slot) {
  const std::lock_guard lock(mappings_mutex);
  mappings().push_back(this);
}

MappedFile::~MappedFile() {
  {
    const std::lock_guard lock(mappings_mutex);
    std::erase(mappings(), this);
  }
  unmap(data_, static_cast<size_t>(size_), slot_);
}

std::vector<std::string> MappedFile::all_damaged() {
  const std::lock_guard lock(mappings_mutex);
  std::vector<std::string> out;
  for (const MappedFile* file : mappings())
    if (file->damaged()) out.push_back(file->path_);
  return out;
}

bool MappedFile::damaged() const { return slots[slot_].damaged; }

}  // namespace argand::io
