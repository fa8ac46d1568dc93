// Streams of this layer's own, on which data travels between GPUs beside the stream that computes.
#pragma once
#include <mutex>

#include "argand/exec/cuda.h"
#include "argand/runtime/stream_uses.h"

namespace argand::parallel {

// While a Turn lives, only its thread puts work on the stream: so a mark (Note [Joined uses]) covers all of it.
class SideStream {
 public:
  // Number n of a device; the same one each time.  With many numbers some are the same.
  static SideStream& of(DeviceIndex device, size_t n);

  class Turn {
   public:
    explicit Turn(SideStream& side) : lock_(side.mutex_), guard_(side.stream_) {}

   private:
    const std::lock_guard<std::mutex> lock_;
    const cuda::StreamGuard guard_;
  };

  const cuda::Stream& stream() const { return stream_; }
  // REQUIRES a Turn, or that no thread puts work there.  All uses so far: what waits in the thread's window is issued.
  uint64_t mark() const;
  // `owner` waits for what was on the stream at the mark.
  void joined(const cuda::Stream& owner, uint64_t mark) const;

 private:
  explicit SideStream(const cuda::Stream& stream) : stream_(stream) {}
  std::mutex mutex_;
  const cuda::Stream stream_;
};

}  // namespace argand::parallel
