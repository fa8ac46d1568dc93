// A building block of kernels: one interface, an implementation per device (kernels/blocks.h).
#pragma once
#include <atomic>
#include <exception>
#include <utility>

#include "argand/base/permanent_name.h"
#include "argand/core/device.h"
#include "argand/runtime/backend.h"

namespace argand {

// Thrown by a block that a device does not have, or not for this call, before it has any effect: the op then runs on
// the CPU, with a warning that says why (exec/fallback.h).  docs/operators.md lists these reasons by the files that
// throw.
class NotOnDevice final : public std::exception {
 public:
  NotOnDevice() = default;
  explicit NotOnDevice(PermanentName reason) : reason_(reason) {}  // what the block does not take
  // "complex numbers"; empty if the device has no such block.
  const char* what() const noexcept override { return reason_; }

 private:
  PermanentName reason_;
};

template <class Function>
class Block;
template <class Result, class... Arguments>
class Block<Result(Arguments...)> {
 public:
  using Function = Result(Arguments...);

  // Makes the device the current one during the call, so that callers need not (for example composites).
  class Call {
   public:
    Call(Function& f, const Device& device) : function_(f), device_(device) {}
    Result operator()(Arguments... arguments) const { return function_(std::forward<Arguments>(arguments)...); }

   private:
    Function& function_;
    DeviceScope device_;
  };

  constexpr Block() : functions_{} {}
  Call on(const Device& device) const { return Call(of(device.type()), device); }
  // For callers that have made a device of that type the current one.
  Function& of(DeviceType type) const {
    Function* f = functions_[static_cast<int>(type)].load(std::memory_order_relaxed);
    if (!f) throw NotOnDevice();
    return *f;
  }
  bool has(DeviceType type) const { return functions_[static_cast<int>(type)].load(std::memory_order_relaxed); }
  void set(DeviceType type, Function& f) { functions_[static_cast<int>(type)].store(&f); }

 private:
  std::atomic<Function*> functions_[kNumDeviceTypes];
};

}  // namespace argand
