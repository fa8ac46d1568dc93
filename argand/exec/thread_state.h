// The thread-local modes that ops read: gradient recording, inference mode, autocast, the default device, the current
// streams of all devices, dispatch modes, levels of forward mode, hooks of saved tensors, and whether pointwise work
// may wait in a window.  A thread that works for another one takes over that thread's modes.
#pragma once
#include <memory>
#include <vector>

#include "argand/core/grad_mode.h"
#include "argand/exec/autocast.h"
#include "argand/exec/forward_mode.h"
#include "argand/exec/saved_hooks_state.h"
#include "argand/exec/window.h"

namespace argand::exec {

class ThreadState {
 public:
  ThreadState();  // the calling thread's

  // Makes it the calling thread's for a scope.
  class Scope {
   public:
    explicit Scope(const ThreadState& state);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const WindowMode window_before_;
    const Device device_before_;
    const InferenceMode inference_;
    const AutoGradMode grad_;
    const AutocastGuard cpu_, accelerator_;
    const autograd::SavedHooksState::Scope saved_hooks_;
    std::vector<StreamRef> streams_before_;
    const bool dispatches_;
    std::shared_ptr<void> modes_before_;
    uint8_t dispatch_before_ = 0;
    std::optional<ForwardMode::Scope> forward_;
  };

 private:
  struct Autocast {
    bool enabled;
    ScalarType dtype;
    explicit Autocast(DeviceType type)
        : enabled(autocast::is_autocast_enabled(type)), dtype(autocast::get_autocast_dtype(type)) {}
  };

  bool grad_, inference_;
  WindowMode window_;
  Device device_;
  Autocast cpu_{kCPU}, accelerator_{accelerator_type()};
  bool autocast_cache_;
  autograd::SavedHooksState saved_hooks_;
  uint8_t dispatch_;                // DispatchHooks::state, without its modes
  std::shared_ptr<void> modes_;     // null without dispatch modes
  ForwardLevels forward_;           // those that were entered
  std::vector<StreamRef> streams_;  // empty if no thread uses any but the default ones
};

}  // namespace argand::exec
