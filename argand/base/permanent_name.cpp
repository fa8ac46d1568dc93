#include "argand/base/permanent_name.h"

#include <mutex>
#include <string>
#include <unordered_set>

namespace argand {

PermanentName permanent_name(std::string_view name) {
  // Never destroyed: other threads may still read names while the process ends.
  static auto& mutex = *new std::mutex;
  static auto& names = *new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  return {names.emplace(name).first->c_str(), PermanentName::Kept{}};
}

}  // namespace argand
