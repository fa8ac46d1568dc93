// c10d::ProcessGroupMPI: processes that mpirun started, their messages by MPI.
#pragma once
#include <numeric>

#include "torch/csrc/distributed/c10d/wrapped_group.h"

namespace c10d {

constexpr const char* MPI_BACKEND_NAME = "mpi";

class ProcessGroupMPI : public detail::WrappedGroup {
 public:
  // A group of these ranks of the world, of all if there are none; null in a process that is not among them.  Starts
  // MPI if nobody has.  All processes must call it, in the same order.
  static c10::intrusive_ptr<ProcessGroupMPI> createProcessGroupMPI(std::vector<int> ranks = {}) {
    const Ours world = argand::parallel::world_of_launcher(MPI_BACKEND_NAME, kBackendDefaultTimeout);
    if (ranks.empty()) {
      ranks.resize(static_cast<size_t>(world->size()));
      std::iota(ranks.begin(), ranks.end(), 0);
    }
    argand::parallel::GroupOptions options;
    options.backend = MPI_BACKEND_NAME;
    options.timeout = kBackendDefaultTimeout;
    const Ours group = world->subgroup(ranks, options);
    if (!group) return nullptr;
    return c10::intrusive_ptr<ProcessGroupMPI>(new ProcessGroupMPI(group, world));
  }

 private:
  ProcessGroupMPI(const Ours& group, Ours world) : WrappedGroup(group, MPI_BACKEND_NAME), world_(std::move(world)) {}
  const Ours world_;  // leaves with the last group
};

}  // namespace c10d
