#include "argand/parallel/interrupt.h"

#include <atomic>

namespace argand::parallel {
namespace {
std::atomic<InterruptCheck> installed{nullptr};
}

void set_interrupt_check(InterruptCheck check) noexcept { installed = check; }

void check_interrupt() {
  if (const InterruptCheck check = installed) check();
}

}  // namespace argand::parallel
