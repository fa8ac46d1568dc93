// Memory of pretended devices.  It is the host's, mapped twice: at the addresses that the library gets, no access is
// allowed, so CPU code that touches device memory ends with SIGSEGV; the device's own code uses the other addresses.
#pragma once
#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

namespace argand::sim {

class Memory {
 public:
  static Memory& get();

  void* allocate(size_t nbytes);  // null if there is none
  void deallocate(void* data, size_t nbytes) noexcept;
  // The same bytes for the device's own code; host memory is returned as it is.
  template <class T>
  T* inside(T* p) const {
    const auto* const at = reinterpret_cast<const char*>(p);
    if (at < outside_ || at >= outside_ + kBytes) return p;
    return reinterpret_cast<T*>(const_cast<char*>(inside_ + (at - outside_)));
  }

 private:
  static constexpr size_t kBytes = size_t{1} << 36;  // of addresses; pages exist once they are written
  Memory();

  char *outside_, *inside_;
  std::mutex mutex_;
  size_t used_ = 0;
  std::map<size_t, std::vector<void*>> free_;  // by size, a power of two
};

}  // namespace argand::sim
