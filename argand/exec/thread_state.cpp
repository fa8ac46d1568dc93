#include "argand/exec/thread_state.h"

#include "argand/exec/dispatch_hooks.h"

namespace argand::exec {

ThreadState::ThreadState()
    : grad_(GradMode::is_enabled()),
      inference_(InferenceMode::is_enabled()),
      window_(window_mode()),
      device_(default_device()),
      autocast_cache_(autocast::is_autocast_cache_enabled()),
      dispatch_(DispatchHooks::state & ~DispatchHooks::kModes) {
  if (DispatchHooks::tangents_travel()) forward_ = ForwardMode::active();
  if ((DispatchHooks::state & DispatchHooks::kModes) != 0) modes_ = DispatchHooks::interceptor.load()->modes();
  Backend* gpu = loaded_accelerator();
  if (!gpu || !StorageImpl::side_streams.load(std::memory_order_relaxed)) return;
  for (int d = 0; d < gpu->device_count(); ++d) streams_.push_back(gpu->current_stream(static_cast<DeviceIndex>(d)));
}

ThreadState::Scope::Scope(const ThreadState& state)
    : window_before_(window_mode()),
      device_before_(default_device()),
      inference_(state.inference_),
      grad_(state.grad_),
      cpu_(kCPU, state.cpu_.dtype, state.cpu_.enabled, state.autocast_cache_),
      accelerator_(accelerator_type(), state.accelerator_.dtype, state.accelerator_.enabled, state.autocast_cache_),
      saved_hooks_(state.saved_hooks_),
      dispatches_(state.modes_ != nullptr),
      dispatch_before_(DispatchHooks::state) {
  DispatchHooks::state = (DispatchHooks::state & DispatchHooks::kModes) | state.dispatch_;
  if (DispatchHooks::tangents_travel()) forward_.emplace(state.forward_, true);
  if (dispatches_) modes_before_ = DispatchHooks::interceptor.load()->exchange_modes(state.modes_);
  set_window_mode(state.window_);
  set_default_device(state.device_);
  for (const StreamRef& s : state.streams_) {
    streams_before_.push_back(accelerator().current_stream(s.device));
    accelerator().set_current_stream(s);
  }
}

ThreadState::Scope::~Scope() {
  if (dispatches_) DispatchHooks::interceptor.load()->exchange_modes(std::move(modes_before_));
  forward_.reset();
  DispatchHooks::state = dispatch_before_;
  for (const StreamRef& s : streams_before_) accelerator().set_current_stream(s);
  set_default_device(device_before_);
  set_window_mode(window_before_);
}

}  // namespace argand::exec
