// A table of kernels, by a key and the current device.
#pragma once
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "argand/runtime/cuda/compiler.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {

// Never destroy a table: a window may be issued when its thread, or the process, ends.
class KernelTable {
 public:
  std::optional<Kernel> find(std::string_view key) {
    auto& known = of_device_[thread_device()];
    const std::shared_lock lock(mutex_);
    const auto found = known.find(key);
    if (found == known.end()) return {};
    return found->second;
  }
  // make() compiles or loads the kernel at the first call with this key.
  template <class Make>
  Kernel get(std::string_view key, Make make) {
    if (const std::optional<Kernel> found = find(key)) return *found;
    const Kernel kernel = make();
    const std::lock_guard lock(mutex_);
    of_device_[thread_device()].emplace(std::string(key), kernel);
    return kernel;
  }

 private:
  // So that a lookup needs no std::string.
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };
  std::shared_mutex mutex_;
  std::unordered_map<std::string, Kernel, Hash, std::equal_to<>> of_device_[kMaxDevices];
};

}  // namespace argand::cuda
