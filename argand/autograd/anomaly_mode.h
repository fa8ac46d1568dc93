// Anomaly detection: while it is on, backward checks each gradient and throws a GradError naming the op that made a
// NaN. Slow: every check waits for the gradient.
#pragma once
#include <atomic>

#include "argand/base/shared.h"

namespace argand::autograd {

struct ARGAND_SHARED AnomalyMode {
  static bool is_enabled() { return enabled.load(std::memory_order_relaxed); }
  static void set_enabled(bool on) { enabled.store(on, std::memory_order_relaxed); }

 private:
  static inline std::atomic<bool> enabled{false};
};

// Turns it on for a scope.  It does nothing but check for NaNs, so without that check it is off.
class DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true) : before_(AnomalyMode::is_enabled()) {
    AnomalyMode::set_enabled(check_nan);
  }
  ~DetectAnomalyGuard() { AnomalyMode::set_enabled(before_); }
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  bool before_;
};

}  // namespace argand::autograd
