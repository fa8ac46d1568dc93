// The choke point's part of autocast (exec/autocast.h).  If autocast is off, it costs one read of a thread-local byte.
#pragma once
#include "argand/base/shared.h"
#include "argand/exec/op_info.h"

namespace argand::exec {

class ARGAND_SHARED AutocastScope {
 public:
  // Autocast is off while this lives: ops called meanwhile cast nothing.
  AutocastScope() : before_(enabled) {
    if (before_) [[unlikely]]
      enabled = 0;
  }
  // The same for the ops that a composite calls, after its tensor arguments have been cast by its policy.
  // A composite without a policy leaves autocast on: the ops that it calls have their own.
  AutocastScope(const OpInfo& op, void* args) : AutocastScope() {
    if (before_) [[unlikely]]
      apply(op, args);
  }
  ~AutocastScope() {
    if (before_) [[unlikely]]
      enabled = before_;
  }
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

  // Bit d: autocast is on for DeviceType d, on this thread.
  static inline constinit thread_local uint8_t enabled = 0;

 private:
  void apply(const OpInfo& op, void* args);
  uint8_t before_;
};

}  // namespace argand::exec
