// cuDNN on one device: its handle, the plans that are known, and how one is run.
#pragma once

#if ARGAND_CUDNN

#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "argand/base/hash.h"
#include "argand/runtime/cuda/cudnn_plan.h"
#include "argand/runtime/cuda/stream_tapes.h"

namespace argand::cuda::cudnn {

// It is never destroyed, because no CUDA call may be made while static objects are destroyed.  Serves one thread at a
// time.
class Handle {
 public:
  explicit Handle(int device);
  int device() const { return device_; }

  class Lock {
   public:
    explicit Lock(Handle& handle) : handle_(handle), lock_(handle.mutex_) {}
    cudnnHandle_t get() const { return handle_.handle_; }

   private:
    Handle& handle_;
    std::lock_guard<std::mutex> lock_;
  };

 private:
  const int device_;
  std::mutex mutex_;
  cudnnHandle_t handle_ = nullptr;
};
Handle& current_handle();  // of the current device

// All properties of a problem except its addresses.
using Key = std::vector<int64_t>;
struct KeyHash {
  size_t operator()(const Key& key) const { return hash_bytes(key.data(), key.size() * sizeof key[0]); }
};

// Entries keep their addresses.  No lock is held while work is issued: issuing takes a tape's lock, and these locks are
// taken under a tape's lock.
template <class Entry>
class PlanCache {
 public:
  Entry& find(Handle& handle, Key key, const std::function<Entry(cudnnHandle_t)>& make) {
    key.push_back(handle.device());
    {
      const std::lock_guard lock(mutex_);
      const auto known = entries_.find(key);
      if (known != entries_.end()) return known->second;
    }
    Entry made = [&] { return make(Handle::Lock(handle).get()); }();
    if (is_full()) forget_graphs();  // graphs and work on tapes refer to plans
    const std::lock_guard lock(mutex_);
    // Another thread may be about to issue one of these.
    if (entries_.size() >= kMost) retired_ = std::exchange(entries_, {});
    return entries_.try_emplace(std::move(key), std::move(made)).first->second;
  }

 private:
  static constexpr size_t kMost = 4096;  // then all are dropped, to bound the memory if shapes never repeat
  using Entries = std::unordered_map<Key, Entry, KeyHash>;

  bool is_full() {
    const std::lock_guard lock(mutex_);
    return entries_.size() >= kMost;
  }

  std::mutex mutex_;
  Entries entries_, retired_;
};

// A library call on a tape.
template <size_t N>
struct PlanCall {
  Handle* handle;
  const Plan* plan;
  const void* data[N];
  void* workspace;
};
// Throws DeviceError, naming `what`.
void execute(const char* what, Handle& handle, const Plan& plan, int64_t count, const int64_t* names,
             const void* const* data, void* workspace, void* stream);

}  // namespace argand::cuda::cudnn

#endif
