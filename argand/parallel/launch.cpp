#include "argand/parallel/launch.h"

#include "argand/base/env.h"
#include "argand/parallel/store/prefix_store.h"
#include "argand/parallel/store/tcp_store.h"

namespace argand::parallel {
namespace {

// A variable that is required because related ones are set.
std::string needed(const char* name, const Launch& launch) {
  const std::optional<std::string> value = env(name);
  ARGAND_CHECK(ValueError, value && !value->empty(), "environment variable ", name,
               " expected, but not set: other variables say that ", launch.launcher, " started this process");
  return *value;
}

int number(const char* name, const Launch& launch, int64_t least, int64_t most) {
  needed(name, launch);
  return static_cast<int>(env_int(name, 0, least, most));
}

constexpr int64_t kMostRanks = 1 << 24;

void read_ranks(Launch& launch, const char* rank, const char* size, const char* local_rank) {
  launch.size = number(size, launch, 1, kMostRanks);
  launch.rank = number(rank, launch, 0, launch.size - 1);
  launch.local_rank = static_cast<int>(env_int(local_rank, 0, 0, kMostRanks));
}

// The first of "n1", "n1,n2", "n[03-12,15],m".
std::string first_host(const std::string& hosts) {
  const size_t open = hosts.find('['), comma = hosts.find(',');
  if (open == std::string::npos || comma < open) return hosts.substr(0, comma);
  const size_t close = hosts.find(']', open), end = hosts.find_first_of("-,]", open);
  ARGAND_CHECK(ValueError, close != std::string::npos, "SLURM_STEP_NODELIST: expected a list of hosts, got '", hosts,
               "'");
  const size_t after = hosts.find(',', close);
  return hosts.substr(0, open) + hosts.substr(open + 1, end - open - 1) +
         hosts.substr(close + 1, after == std::string::npos ? after : after - close - 1);
}

// All ranks of a job step choose the same port; other steps on the host most likely choose another.
uint16_t port_of_step() {
  const int64_t job = env_int("SLURM_JOB_ID", 0), step = env_int("SLURM_STEP_ID", 0);
  return static_cast<uint16_t>(15000 + (static_cast<uint64_t>(job) * 16 + static_cast<uint64_t>(step)) % 15000);
}

}  // namespace

std::optional<Launch> find_launch() {
  Launch launch;
  if (env("RANK") || env("WORLD_SIZE")) {
    launch.launcher = "torchrun";
    read_ranks(launch, "RANK", "WORLD_SIZE", "LOCAL_RANK");
  } else if (env("OMPI_COMM_WORLD_SIZE")) {
    launch.launcher = "mpirun";
    read_ranks(launch, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK");
  } else if (env("SLURM_STEP_NUM_TASKS")) {  // a batch script has SLURM_PROCID, too, but is no task of a step
    launch.launcher = "srun";
    read_ranks(launch, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID");
  } else {
    return std::nullopt;
  }
  if (launch.size == 1) return launch;
  if (env("MASTER_ADDR") || launch.launcher == "torchrun") {
    launch.store_host = needed("MASTER_ADDR", launch);
    launch.store_port = static_cast<uint16_t>(number("MASTER_PORT", launch, 1, 65535));
  } else if (launch.launcher == "srun") {
    launch.store_host = first_host(needed("SLURM_STEP_NODELIST", launch));
    launch.store_port = port_of_step();
  }
  return launch;
}

std::shared_ptr<Store> store_of_launch(const std::string& host, uint16_t port, int rank, int size,
                                       Store::Timeout timeout) {
  TCPStoreOptions options;
  options.port = port;
  options.num_workers = static_cast<size_t>(size);
  options.timeout = timeout;
  if (env("TORCHELASTIC_USE_AGENT_STORE") == "True") {
    const std::string attempt = env("TORCHELASTIC_RESTART_COUNT").value_or("0");
    return std::make_shared<PrefixStore>("/worker/attempt_" + attempt, std::make_shared<TCPStore>(host, options));
  }
  options.is_server = rank == 0;
  options.multi_tenant = true;
  options.wait_workers = false;  // joining waits for all, and says which of them do not come
  return std::make_shared<TCPStore>(host, options);
}

}  // namespace argand::parallel
