#include "argand/base/permanent_name.h"

#include <mutex>
#include <string>
#include <unordered_set>

#include "argand/base/fork_mutex.h"

namespace argand {

PermanentName permanent_name(std::string_view name) {
  // Never destroyed: other threads may still read names while the process ends.
  static constinit ProcessMutex mutex;
  const std::lock_guard lock(mutex);
  static auto& names = *new std::unordered_set<std::string>;
  return {names.emplace(name).first->c_str(), PermanentName::Kept{}};
}

}  // namespace argand
