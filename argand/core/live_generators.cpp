// Note [Generators at a fork]
//
// A thread may draw while another one forks.  The child has no such thread, so a mutex that it held stays locked there,
// and the child's first manual_seed() waits for ever.  A fork therefore waits until nobody draws, and holds all mutexes
// until it is over; that way the child finds each generator between two draws.
//
// A thread that holds the mutex of a generator may wait for the list of generators: clone() adds to it.  So the fork
// does not hold the list while it waits for a generator.  It keeps each generator that it waited for locked, and a
// reference to it.
#include "argand/core/live_generators.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "argand/core/cpu_generator.h"

namespace argand {
namespace {

class LiveGenerators {
 public:
  static LiveGenerators& get() {  // never destroyed: threads may draw while the program ends
    static LiveGenerators& all = *[] {
      auto* made = new LiveGenerators;
      pthread_atfork([] { get().hold(); }, [] { get().release(); }, [] { get().release(); });
      return made;
    }();
    return all;
  }

  void add(CpuGeneratorImpl& generator) {
    const std::lock_guard lock(mutex_);
    generators_.insert(&generator);
  }
  void remove(CpuGeneratorImpl& generator) noexcept {
    const std::lock_guard lock(mutex_);
    generators_.erase(&generator);
  }

 private:
  void hold() {
    fork_.lock();
    for (mutex_.lock();; mutex_.lock()) {
      CpuGeneratorImpl* const busy = hold_the_free();
      if (!busy) return;
      auto kept = intrusive_ptr<CpuGeneratorImpl>::if_alive(busy);
      mutex_.unlock();
      if (kept) {
        kept->mutex_.lock();
        waited_.push_back(std::move(kept));
      } else {  // one of a thread's own, which nobody else owns
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    }
  }

  // Locks all generators except those that were waited for; or none, and returns the first that is locked.
  CpuGeneratorImpl* hold_the_free() {
    for (CpuGeneratorImpl* const generator : generators_) {
      if (std::ranges::any_of(waited_, [&](const auto& g) { return g.get() == generator; })) continue;
      if (generator->mutex_.try_lock()) {
        free_.push_back(generator);
        continue;
      }
      release_the_free();
      return generator;
    }
    return nullptr;
  }

  void release_the_free() {
    for (CpuGeneratorImpl* const generator : free_) generator->mutex_.unlock();
    free_.clear();
  }

  void release() {
    release_the_free();
    for (const auto& generator : waited_) generator->mutex_.unlock();
    mutex_.unlock();
    waited_.clear();  // perhaps the last reference, whose end asks for the list
    fork_.unlock();
  }

  std::mutex fork_;  // of two threads that fork, one after the other
  std::mutex mutex_;
  std::unordered_set<CpuGeneratorImpl*> generators_;
  std::vector<CpuGeneratorImpl*> free_;                  // locked for a fork
  std::vector<intrusive_ptr<CpuGeneratorImpl>> waited_;  // locked, too
};

}  // namespace

void add_live_generator(CpuGeneratorImpl& generator) { LiveGenerators::get().add(generator); }
void remove_live_generator(CpuGeneratorImpl& generator) noexcept { LiveGenerators::get().remove(generator); }

}  // namespace argand
