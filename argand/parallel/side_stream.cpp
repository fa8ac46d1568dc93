#include "argand/parallel/side_stream.h"

#include <map>
#include <memory>

#include "argand/exec/window.h"

namespace argand::parallel {

SideStream& SideStream::of(DeviceIndex device, size_t n) {
  constexpr size_t kMost = 8;    // of a device
  constexpr int kPriority = -2;  // programs use 0 and -1
  static std::mutex& mutex = *new std::mutex;
  static auto& streams = *new std::map<std::pair<DeviceIndex, size_t>, std::unique_ptr<SideStream>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<SideStream>& stream = streams[{device, n % kMost}];
  if (!stream) stream.reset(new SideStream(cuda::stream_from_pool(device, kPriority)));
  return *stream;
}

uint64_t SideStream::mark() const {
  exec::flush();
  const StreamUses* const uses = StreamUses::of_gpus.load();
  return uses ? uses->mark(stream_.ref()) : 0;
}

void SideStream::joined(const cuda::Stream& owner, uint64_t mark) const {
  if (const StreamUses* const uses = StreamUses::of_gpus.load()) uses->joined(owner.ref(), stream_.ref(), mark);
}

}  // namespace argand::parallel
