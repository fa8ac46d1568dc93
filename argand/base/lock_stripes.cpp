#include "argand/base/lock_stripes.h"

#include <pthread.h>

#include <new>
#include <vector>

namespace argand {
namespace {

// Made while the library starts or at first use, usually before there is a second thread.
struct Known {
  std::mutex mutex;
  std::vector<std::array<std::mutex, 64>*> all;
};

Known& known() {
  static auto* const made = [] {
    pthread_atfork([] { known().mutex.lock(); }, [] { known().mutex.unlock(); },
                   [] {
                     for (auto* locks : known().all) new (locks) std::array<std::mutex, 64>;
                     known().mutex.unlock();
                   });
    return new Known;
  }();
  return *made;
}

}  // namespace

LockStripes::LockStripes() {
  const std::lock_guard lock(known().mutex);
  known().all.push_back(&locks_);
}

}  // namespace argand
