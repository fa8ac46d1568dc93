// Side streams, on which data travels between GPUs beside the stream that computes.
#pragma once
#include <mutex>
#include <optional>

#include "argand/exec/stream.h"
#include "argand/runtime/stream_uses.h"

namespace argand::parallel {

// A Turn makes streams current. While it lives, no other thread puts work on them, so a mark (Note [Joined uses])
// covers all work that was put there.
class SideStream {
 public:
  // The stream that replicas use, one per device.
  static SideStream& of_replicas(DeviceIndex device);
  // The next of the device's 31 other side streams, in turn.
  static SideStream& next(DeviceIndex device);

  class Turn {
   public:
    explicit Turn(SideStream& side) : Turn(nullptr, &side) {}
    // A turn on two streams, which may be null or the same.  The device of the second becomes the current one.
    Turn(SideStream* first, SideStream* second);

   private:
    std::unique_lock<std::mutex> locks_[2];
    std::optional<StreamGuard> first_, second_;  // the second ends before the first
  };

  const Stream& stream() const { return stream_; }
  // REQUIRES a Turn, or that no thread puts work there.  All uses so far: what waits in the thread's window is issued.
  uint64_t mark() const;
  // `owner` waits for what was on the stream at the mark.
  void joined(const Stream& owner, uint64_t mark) const;

 private:
  explicit SideStream(const Stream& stream) : stream_(stream) {}
  static SideStream& numbered(DeviceIndex device, size_t n);
  std::mutex mutex_;
  const Stream stream_;
};

}  // namespace argand::parallel
