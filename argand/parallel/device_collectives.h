// Collectives of a group for tensors on a GPU, by a Communicator.
//
// Note [Collectives on a device]
// A collective runs on a stream of its own, which first waits for the caller's stream; the caller's stream waits for it
// when the program waits for the Work.  So it runs beside other work of the program, and the host does not wait.  At
// every access to a tensor's bytes the allocator learns which stream uses them (StorageImpl::side_streams), so a tensor
// may be freed at once.
//
// The host checks in the group's thread, while the device works, that all ranks make the same call.  When the world
// fails, communicators are aborted: their running collectives end, and the tensors that these were to write are lost
// (StorageImpl::lose), so that later accesses throw the reason.
#pragma once
#include <list>
#include <map>
#include <optional>

#include "argand/exec/stream.h"
#include "argand/parallel/process_group.h"
#include "argand/parallel/side_stream.h"
#include "argand/parallel/world.h"
#include "argand/runtime/communicator.h"

namespace argand::parallel {

// Work that is finished when its device has finished it.
class DeviceWork final : public Work {
 public:
  DeviceWork(std::string call, std::vector<Tensor> result, const Device& device)
      : Work(std::move(call), std::move(result)), device_(device), done_(device.type()) {}
  bool is_completed() override;
  // The current stream of the device waits, and the host does not, unless a timeout is given or the work has failed.
  void wait() override;
  bool wait_for(std::chrono::milliseconds timeout) override;
  // Calls f at once: its work is ordered after the collective on the current stream.
  void when_done(std::function<void()> f) override;

 private:
  friend class DeviceCollectives;
  void join();  // the current stream waits
  const Device device_;
  SideStream* side_ = nullptr;  // the stream on which it runs
  uint64_t mark_ = 0;
  Event done_;
};

class DeviceCollectives final : public World::Member {
 public:
  DeviceCollectives(World& world, std::shared_ptr<Store> store, int rank, int size, const GroupOptions& options);
  ~DeviceCollectives() override;

  // Whether a collective of these tensors runs on their device: all are on one, and the engine supports the operation.
  using Tensors = std::vector<Tensor>;
  bool takes(const Tensors& read, const Tensors& written, std::optional<ReduceOp> op) const;
  // `make` gets flat, contiguous versions of the tensors.
  using Calls = std::vector<CommunicatorCall>;
  WorkPtr start(const std::string& call, const Tensors& read, const Tensors& written, const Tensors& result,
                const std::function<Calls(const Tensors& in, const Tensors& out)>& make);
  // Waits for what is under way.
  void finish();

  std::exception_ptr look() override;
  void failed(const std::exception_ptr& why) noexcept override;

 private:
  struct Seat {
    std::unique_ptr<Communicator> communicator;
    SideStream* side = nullptr;
  };
  struct Pending {
    std::shared_ptr<DeviceWork> work;
    std::unique_ptr<World::Waiting> waiting;  // its timeout
  };
  Seat& seat_on(const Device& device);
  void forget_finished();

  World& world_;
  const std::shared_ptr<Store> store_;
  const int rank_, size_;
  const GroupOptions options_;
  const CommunicatorEngine& engine_;
  std::mutex mutex_;  // guards the members below
  std::map<DeviceIndex, Seat> seats_;
  std::list<Pending> pending_;
  std::exception_ptr failure_;
};

}  // namespace argand::parallel
