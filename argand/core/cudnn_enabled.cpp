#include "argand/core/cudnn_enabled.h"

#include <atomic>

namespace argand {
namespace {
constinit std::atomic<bool> enabled{true};
}

bool cudnn_enabled() { return enabled.load(std::memory_order_relaxed); }
void set_cudnn_enabled(bool on) { enabled.store(on, std::memory_order_relaxed); }

}  // namespace argand
