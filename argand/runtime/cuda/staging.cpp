#include "argand/runtime/cuda/staging.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <vector>

#include "argand/runtime/backend.h"
#include "argand/runtime/cpu/thread_pool.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/page_lock.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {
namespace {

constexpr size_t kChunkBytes = size_t{2} << 20, kSmallestChunk = size_t{256} << 10;
constexpr int kChunks = 16;

// A page-locked chunk, and the event that ends its last copy.
struct Chunk {
  char* data = nullptr;
  cudaEvent_t done = nullptr;
};

// The chunks of one device, made at its first staged copy and kept: page-locking costs more than a copy.
class Staging {
 public:
  explicit Staging(int device) {
    const DeviceScope on(Device(kCUDA, static_cast<DeviceIndex>(device)));
    const DeviceCalls calls;
    void* const memory = lock_pages(kChunks * kChunkBytes);
    if (!memory) return;
    for (int i = 0; i < kChunks; ++i) {
      Chunk c{static_cast<char*>(memory) + static_cast<size_t>(i) * kChunkBytes};
      ARGAND_CUDA(cudaEventCreateWithFlags(&c.done, cudaEventDisableTiming));
      free_.push_back(c);
    }
    usable_ = true;
  }

  bool usable() const { return usable_; }

  // Takes the chunk that was returned first; its last copy may still be running.
  Chunk take() {
    std::unique_lock lock(mutex_);
    given_back_.wait(lock, [this] { return !free_.empty(); });
    const Chunk c = free_.front();
    free_.pop_front();
    return c;
  }
  void give_back(const Chunk& c) {
    {
      const std::lock_guard lock(mutex_);
      free_.push_back(c);
    }
    given_back_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::deque<Chunk> free_;
  bool usable_ = false;
};

Staging& staging_of(int device) {
  static std::mutex& mutex = *new std::mutex;
  static auto* const all = new std::vector<Staging*>(kMaxDevices, nullptr);
  const std::lock_guard lock(mutex);
  Staging*& s = (*all)[static_cast<size_t>(device)];
  if (!s) s = new Staging(device);
  return *s;
}

// A chunk for a scope.
class ChunkScope {
 public:
  explicit ChunkScope(Staging& staging) : staging_(staging), chunk_(staging.take()) {}
  ~ChunkScope() { staging_.give_back(chunk_); }
  ChunkScope(const ChunkScope&) = delete;
  ChunkScope& operator=(const ChunkScope&) = delete;
  const Chunk& operator*() const { return chunk_; }

 private:
  Staging& staging_;
  const Chunk chunk_;
};

// Calls body(staging, offset, nbytes) for the pieces, on many threads, each with the device as its current one.
template <class Body>
bool for_each_piece(size_t nbytes, const Body& body) {
  const int device = thread_device();
  Staging& staging = staging_of(device);
  if (!staging.usable()) return false;
  const size_t piece = std::clamp(nbytes / kChunks, kSmallestChunk, kChunkBytes);
  const auto pieces = static_cast<int64_t>((nbytes + piece - 1) / piece);
  parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
    const DeviceScope on(Device(kCUDA, static_cast<DeviceIndex>(device)));
    for (int64_t i = begin; i < end; ++i) {
      const size_t offset = static_cast<size_t>(i) * piece;
      body(staging, offset, std::min(piece, nbytes - offset));
    }
  });
  return true;
}

}  // namespace

bool staged_to_device(void* to, const void* from, size_t nbytes, cudaStream_t stream) {
  return for_each_piece(nbytes, [&](Staging& staging, size_t offset, size_t n) {
    const ChunkScope chunk(staging);
    ARGAND_CUDA(cudaEventSynchronize((*chunk).done));
    std::memcpy((*chunk).data, static_cast<const char*>(from) + offset, n);
    ARGAND_CUDA(cudaMemcpyAsync(static_cast<char*>(to) + offset, (*chunk).data, n, cudaMemcpyHostToDevice, stream));
    ARGAND_CUDA(cudaEventRecord((*chunk).done, stream));
  });
}

bool staged_to_host(void* to, const void* from, size_t nbytes, cudaStream_t stream) {
  // Waits here, so that the threads of the pool are free for other work.
  ARGAND_CUDA(cudaStreamSynchronize(stream));
  return for_each_piece(nbytes, [&](Staging& staging, size_t offset, size_t n) {
    const ChunkScope chunk(staging);
    ARGAND_CUDA(cudaEventSynchronize((*chunk).done));
    ARGAND_CUDA(
        cudaMemcpyAsync((*chunk).data, static_cast<const char*>(from) + offset, n, cudaMemcpyDeviceToHost, stream));
    ARGAND_CUDA(cudaEventRecord((*chunk).done, stream));
    ARGAND_CUDA(cudaEventSynchronize((*chunk).done));
    std::memcpy(static_cast<char*>(to) + offset, (*chunk).data, n);
  });
}

}  // namespace argand::cuda
