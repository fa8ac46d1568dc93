// The backends that process groups can have in this build and on this machine.
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include "argand/parallel/process_group.h"

namespace argand::parallel {

// Empty if groups of several processes can have the backend ("gloo", "mpi", "nccl"); else a sentence with the reason.
std::string why_no_backend(const std::string& backend);

// The backends that a text such as "gloo", "nccl" or "cpu:gloo,cuda:nccl" names, as PyTorch writes it.
struct BackendNames {
  std::string host;    // for tensors in host memory, and for the group's own messages; empty: none is named
  std::string device;  // "nccl": for tensors on GPUs; empty: these go through host memory
};
BackendNames backends_of(const std::string& text);

// The group of all processes that the backend's own launcher (mpirun) started.  The program has one, made by the first
// call and kept until its last user releases it.
std::shared_ptr<ProcessGroup> world_of_launcher(const std::string& backend, std::chrono::milliseconds timeout);

}  // namespace argand::parallel
