#include "argand/parallel/backends.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "argand/base/fork_mutex.h"
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

BackendNames backends_of(const std::string& text) {
  BackendNames names;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const size_t colon = part.find(':');
    const std::string name = colon == std::string::npos ? part : part.substr(colon + 1);
    const bool for_host = colon == std::string::npos || part.substr(0, colon) == "cpu";
    if (name == "nccl") {
      names.device = name;
    } else if (for_host) {
      names.host = name;
    }
    begin = end + 1;
  }
  return names;
}

std::shared_ptr<ProcessGroup> world_of_launcher(const std::string& backend, std::chrono::milliseconds timeout) {
  static constinit std::mutex mutex;  // held while the ranks meet, which fork() must not wait for
  static auto& worlds = *new std::map<std::string, std::weak_ptr<ProcessGroup>>;
  const ObjectLock lock(mutex);
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
