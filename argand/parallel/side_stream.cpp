#include "argand/parallel/side_stream.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>

#include "argand/exec/window.h"

namespace argand::parallel {

namespace {
constexpr int kPriority = -2;  // programs use 0 and -1
constexpr size_t kMost = 32;   // streams per device, as the backend has them
}  // namespace

SideStream& SideStream::numbered(DeviceIndex device, size_t n) {
  static std::mutex& mutex = *new std::mutex;
  static auto& streams = *new std::map<std::pair<DeviceIndex, size_t>, std::unique_ptr<SideStream>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<SideStream>& stream = streams[{device, n}];
  if (!stream) stream.reset(new SideStream(stream_from_pool(Device(accelerator_type(), device), kPriority)));
  return *stream;
}

SideStream& SideStream::of_replicas(DeviceIndex device) { return numbered(device, 0); }

SideStream& SideStream::next(DeviceIndex device) {
  static std::atomic<size_t> last{0};
  return numbered(device, 1 + last++ % (kMost - 1));
}

// Threads that take turns of the same two streams lock them in one order, that of their addresses.
SideStream::Turn::Turn(SideStream* first, SideStream* second) {
  if (first == second) first = nullptr;
  SideStream* const ordered[] = {std::min(first, second, std::less<>()), std::max(first, second, std::less<>())};
  for (size_t i = 0; i < 2; ++i)
    if (ordered[i]) locks_[i] = std::unique_lock(ordered[i]->mutex_);
  if (first) first_.emplace(first->stream_);
  if (second) second_.emplace(second->stream_);
}

uint64_t SideStream::mark() const {
  exec::flush();
  const StreamUses* const uses = StreamUses::of_gpus.load();
  return uses ? uses->mark(stream_.ref()) : 0;
}

void SideStream::joined(const Stream& owner, uint64_t mark) const {
  if (const StreamUses* const uses = StreamUses::of_gpus.load()) uses->joined(owner.ref(), stream_.ref(), mark);
}

}  // namespace argand::parallel
