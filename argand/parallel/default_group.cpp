#include "argand/parallel/default_group.h"

#include <cstdlib>
#include <mutex>

#include "argand/base/fork_mutex.h"
#include "argand/parallel/backends.h"
#include "argand/parallel/store/hash_store.h"
#include "argand/parallel/store/prefix_store.h"

namespace argand::parallel {
namespace {

struct Default {
  std::mutex mutex;  // held while the ranks meet, which fork() must not wait for
  std::shared_ptr<ProcessGroup> group;
  int joined = 0;  // number of worlds, so that each has its own keys in a store that outlives them
};
Default& the_default() {
  static Default& d = *new Default;
  return d;
}

std::shared_ptr<ProcessGroup> join(const Launch& launch, const std::string& backend, std::chrono::milliseconds timeout,
                                   int joined) {
  const BackendNames names = backends_of(backend);
  GroupOptions options;
  options.timeout = timeout;
  options.device_backend = names.device;
  options.backend = names.host;
  if (options.backend.empty()) options.backend = launch.size > 1 && launch.store_host.empty() ? "mpi" : "gloo";
  if (launch.size > 1)  // before anybody waits
    for (const std::string& name : {options.backend, options.device_backend}) {
      const std::string why_not = name.empty() ? "" : why_no_backend(name);
      ARGAND_CHECK(NotImplementedError, why_not.empty(), "init_process_group: ", why_not);
    }
  if (options.backend == "mpi") return make_launched_process_group(options);
  std::shared_ptr<Store> store = std::make_shared<HashStore>();
  if (launch.size > 1) {
    ARGAND_CHECK(ValueError, !launch.store_host.empty(), "init_process_group: backend '", options.backend,
                 "' needs MASTER_ADDR and MASTER_PORT, which ", launch.launcher, " does not set");
    store = store_of_launch(launch.store_host, launch.store_port, launch.rank, launch.size,
                            std::min<Store::Timeout>(options.timeout, Store::kDefaultTimeout));
  }
  return make_process_group(std::make_shared<PrefixStore>(str("default_pg/", joined), store), launch.rank, launch.size,
                            options);
}

}  // namespace

std::shared_ptr<ProcessGroup> init_process_group(const std::string& backend, std::chrono::milliseconds timeout) {
  const std::optional<Launch> launch = find_launch();
  ARGAND_CHECK(ValueError, launch,
               "init_process_group: no launcher started this process: expected the variables of torchrun (RANK, "
               "WORLD_SIZE, MASTER_ADDR, MASTER_PORT), mpirun or srun");
  return init_process_group(*launch, backend, timeout);
}

std::shared_ptr<ProcessGroup> init_process_group(const Launch& launch, const std::string& backend,
                                                 std::chrono::milliseconds timeout) {
  Default& d = the_default();
  const ObjectLock lock(d.mutex);
  ARGAND_CHECK(Error, !d.group, "init_process_group: this process has joined already; destroy_process_group() leaves");
  d.group = join(launch, backend, timeout, d.joined);
  // After the backend's own handlers were registered, so that it is called before them.
  if (d.joined++ == 0) std::atexit(&destroy_process_group);
  return d.group;
}

bool is_initialized() {
  const ObjectLock lock(the_default().mutex);
  return the_default().group != nullptr;
}

std::shared_ptr<ProcessGroup> default_process_group() {
  const ObjectLock lock(the_default().mutex);
  ARGAND_CHECK(ValueError, the_default().group,
               "Default process group has not been initialized, please make sure to call init_process_group.");
  return the_default().group;
}

void destroy_process_group() {
  std::shared_ptr<ProcessGroup> group;
  {
    const ObjectLock lock(the_default().mutex);
    group.swap(the_default().group);
  }
  if (group) group->shutdown();
}

}  // namespace argand::parallel
