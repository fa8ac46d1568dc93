// Reads from environment variables which launcher started this process, and with how many others.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "argand/parallel/store/store.h"

namespace argand::parallel {

// A process's place among those that were started with it.
struct Launch {
  std::string launcher;    // "torchrun" (argandrun, too), "mpirun" or "srun"
  int rank = 0, size = 1;  // among all processes
  int local_rank = 0;      // among those on this host
  std::string store_host;  // the host of the store; empty: MPI finds the ranks without a store
  uint16_t store_port = 0;
};

// Reads the first of these that is set:
//   torchrun   RANK, WORLD_SIZE, LOCAL_RANK
//   mpirun     OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_RANK (Open MPI)
//   srun       SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID, and the first host of SLURM_STEP_NODELIST for the
//   store
// MASTER_ADDR and MASTER_PORT say where the store is; torchrun sets them, and for the others they are optional.
// Empty if no launcher started this process.  ValueError if one of the variables is missing or malformed.
std::optional<Launch> find_launch();

// The store of a launch's ranks: that of torchrun's agent if the agent announces one, else rank 0 holds it.
std::shared_ptr<Store> store_of_launch(const std::string& host, uint16_t port, int rank, int size,
                                       Store::Timeout timeout);

}  // namespace argand::parallel
