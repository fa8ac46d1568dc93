#include "argand/runtime/transport.h"

#include <dlfcn.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>

#include "argand/base/fork_mutex.h"

namespace argand {
namespace {

constinit ProcessMutex mutex;

struct Registry {
  std::map<std::string, MakeTransport> made;
  std::map<std::string, std::string> reasons;  // why a library could not be opened
};
Registry& registry() {  // with the mutex held
  static Registry& r = *new Registry;
  return r;
}

MakeTransport registered(const std::string& backend) {
  const std::lock_guard lock(mutex);
  const auto found = registry().made.find(backend);
  return found == registry().made.end() ? nullptr : found->second;
}

std::optional<std::string> known_reason(const std::string& backend) {
  const std::lock_guard lock(mutex);
  const auto found = registry().reasons.find(backend);
  return found == registry().reasons.end() ? std::nullopt : std::optional(found->second);
}

// Opens the library of the backend, which registers itself.  Returns the reason if it does not.
std::string open_library(const std::string& backend) {
  Dl_info info;
  std::filesystem::path path = "libargand_" + backend + ".so";
  if (dladdr(reinterpret_cast<void*>(&register_transport), &info))
    path = std::filesystem::path(info.dli_fname).parent_path() / path;
  if (!std::filesystem::exists(path))
    return "this build of Argand has no such backend (" + path.string() + " does not exist)";
  if (!dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return str("its library could not be loaded: ", dlerror());
  return registered(backend) ? "" : path.string() + " is of another version of Argand";
}

}  // namespace

void register_transport(const std::string& backend, MakeTransport make) {
  const std::lock_guard lock(mutex);
  registry().made[backend] = make;
}

MakeTransport find_transport(const std::string& backend) {
  if (const MakeTransport make = registered(backend)) return make;
  static constinit std::mutex opening;  // fork() must not wait for a library that is being loaded
  const ObjectLock lock(opening);
  std::optional<std::string> reason = known_reason(backend);
  if (!reason) {
    reason = open_library(backend);
    const std::lock_guard lock_registry(mutex);
    registry().reasons[backend] = *reason;
  }
  const MakeTransport make = registered(backend);
  ARGAND_CHECK(NotImplementedError, make != nullptr, "backend '", backend, "' is not available: ", *reason);
  return make;
}

}  // namespace argand
