#include "argand/parallel/backends.h"

#include <map>
#include <mutex>

#include "argand/runtime/communicator.h"

namespace argand::parallel {

std::string why_no_backend(const std::string& backend) {
  try {
    if (backend == "nccl") {
      find_communicator(backend);
    } else {
      find_transport(backend);
    }
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

std::shared_ptr<ProcessGroup> world_of_launcher(const std::string& backend, std::chrono::milliseconds timeout) {
  static std::mutex& mutex = *new std::mutex;
  static auto& worlds = *new std::map<std::string, std::weak_ptr<ProcessGroup>>;
  const std::lock_guard lock(mutex);
  std::shared_ptr<ProcessGroup> world = worlds[backend].lock();
  if (world) return world;
  GroupOptions options;
  options.backend = backend;
  options.timeout = timeout;
  world = make_launched_process_group(options);
  worlds[backend] = world;
  return world;
}

}  // namespace argand::parallel
