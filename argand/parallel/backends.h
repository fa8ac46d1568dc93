// Which backends process groups may have in this build and on this machine.
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include "argand/parallel/process_group.h"

namespace argand::parallel {

// Empty if groups of several processes may have the backend ("gloo", "mpi", "nccl"); else the reason why not, as a
// sentence.
std::string why_no_backend(const std::string& backend);

// The backends that a text such as "gloo", "nccl" or "cpu:gloo,cuda:nccl" names, as PyTorch writes it.
struct BackendNames {
  std::string host;    // for tensors in host memory, and what ranks say to each other; empty: none is named
  std::string device;  // "nccl": for those of GPUs; empty: they go through host memory
};
BackendNames backends_of(const std::string& text);

// The group of all processes that the backend's own launcher (mpirun) started: one for the whole program, made by the
// first call and kept until the last who holds it lets go.
std::shared_ptr<ProcessGroup> world_of_launcher(const std::string& backend, std::chrono::milliseconds timeout);

}  // namespace argand::parallel
