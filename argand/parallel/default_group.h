// The group of all processes that were started together: how a program joins and leaves it.
//
//   parallel::init_process_group();              // under argandrun, torchrun, mpirun or srun
//   parallel::DistributedDataParallel model(net);
//   ...
//   parallel::destroy_process_group();           // or the end of the process
#pragma once
#include <chrono>

#include "argand/parallel/launch.h"
#include "argand/parallel/process_group.h"

namespace argand::parallel {

// Joins those that the launcher started (launch.h), and waits for all.  The backend: "gloo", "mpi" or "nccl", or one
// for each kind of device, "cpu:gloo,cuda:nccl".  Tensors in host memory go by "mpi" if none is named for them, mpirun
// started the processes and MASTER_ADDR is not set; else by "gloo".  ValueError if there is no launcher, Error if this
// process has joined already, NotImplementedError for a backend that is not here.
std::shared_ptr<ProcessGroup> init_process_group(const std::string& backend = "",
                                                 std::chrono::milliseconds timeout = std::chrono::minutes(30));
// The same for what find_launch() found.
std::shared_ptr<ProcessGroup> init_process_group(const Launch& launch, const std::string& backend = "",
                                                 std::chrono::milliseconds timeout = std::chrono::minutes(30));
bool is_initialized();
std::shared_ptr<ProcessGroup> default_process_group();  // ValueError before init_process_group()
// Leaves: other ranks learn that this one was not lost.  The end of the process does it, too.
void destroy_process_group();

}  // namespace argand::parallel
