#include "argand/runtime/communicator.h"

#include <map>
#include <mutex>

#include "argand/base/fork_mutex.h"
#include "argand/runtime/backend.h"

namespace argand {
namespace {

constinit ProcessMutex mutex;

struct Registry {
  std::map<std::string, CommunicatorEngine> engines;  // stay where they are
};
Registry& registry() {  // with the mutex held
  static Registry& r = *new Registry;
  return r;
}

const CommunicatorEngine* registered(const std::string& backend) {
  const std::lock_guard lock(mutex);
  const auto found = registry().engines.find(backend);
  return found == registry().engines.end() ? nullptr : &found->second;
}

}  // namespace

void register_communicator(const std::string& backend, const CommunicatorEngine& engine) {
  const std::lock_guard lock(mutex);
  registry().engines[backend] = engine;
}

const CommunicatorEngine& find_communicator(const std::string& backend) {
  std::string why;
  const CommunicatorEngine* engine = registered(backend);
  if (!engine && find_accelerator(&why)) engine = registered(backend);
  if (engine)
    why = engine->why_not();
  else if (why.empty())
    why = "this build of Argand has no such backend";
  ARGAND_CHECK(NotImplementedError, why.empty(), "backend '", backend, "' is not available: ", why);
  return *engine;
}

}  // namespace argand
