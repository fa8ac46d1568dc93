// Several processes of one command on this machine, which find each other as those of torchrun do.
#pragma once
#include <string>
#include <vector>

#include "tools/argand/train_options.h"

namespace argand::cli {

// Runs `command` (a program and its arguments) `count` times at once, each with RANK, LOCAL_RANK, WORLD_SIZE,
// MASTER_ADDR, MASTER_PORT and, unless it is set, OMP_NUM_THREADS, so that all workers together have the machine's
// cores.  SIGINT and SIGTERM are passed on; when a worker fails, the others are asked to stop, and killed ten seconds
// later; if this process dies, they die.  0, or the first failure: a worker's exit status, or 128 + N where signal N
// ended it, with a line on stderr that says which worker it was.
int run_workers(const std::vector<std::string>& command, int count);

// How many workers "all" or a number stands for.  DeviceError with the reason if there are not that many GPUs.
int workers_for_gpus(const std::string& text);

// `argand train --gpus`: the command of this process, as a worker for each GPU.
int train_on_gpus(const TrainOptions& options);

}  // namespace argand::cli
