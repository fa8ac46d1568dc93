// What gradients see of the thread that called backward, for threads that run some of them.
#pragma once
#include <vector>

#include "argand/autograd/pass.h"
#include "argand/exec/autocast_scope.h"
#include "argand/exec/cuda.h"
#include "argand/exec/window.h"

namespace argand::autograd {

class CallerState {
 public:
  explicit CallerState(const Pass& pass)
      : grad_(pass.creates_graph()),
        inference_(InferenceMode::is_enabled()),
        mode_(exec::window_mode()),
        device_(default_device()),
        streams_(pass.caller_streams()) {}

  // Makes it the calling thread's for a scope.
  class Scope {
   public:
    explicit Scope(const CallerState& caller) : inference_(caller.inference_), grad_(caller.grad_) {
      exec::set_window_mode(caller.mode_);
      set_default_device(caller.device_);
      for (const StreamRef& s : caller.streams_) {
        before_.push_back(backend().current_stream(s.device));
        backend().set_current_stream(s);
      }
    }
    ~Scope() {
      for (const StreamRef& s : before_) backend().set_current_stream(s);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    static Backend& backend() { return backend_of(kCUDA); }
    const InferenceMode inference_;
    const AutoGradMode grad_;
    const exec::AutocastScope no_autocast_;
    std::vector<StreamRef> before_;
  };

 private:
  friend class Scope;
  bool grad_, inference_;
  exec::WindowMode mode_;
  Device device_;
  std::vector<StreamRef> streams_;
};

}  // namespace argand::autograd
