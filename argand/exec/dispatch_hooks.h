// Interception of calls before they run (docs/design/0015-dispatch-modes.md).  Two kinds intercept: modes, which belong
// to a thread and see all its calls, and tensors, which see the calls that have them as an argument.
//
// While there are no modes and no such tensors, a call only checks a byte of the thread and a flag of the process.
//
// A call is offered below autograd: autograd records the node around the offer, from the arguments and from the results
// that the interceptor gives.  What runs during the offer is not recorded, and does not count as a view or as an
// in-place write.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "argand/base/shared.h"
#include "argand/exec/op_info.h"

namespace argand::exec {

struct OfferedCall {
  enum class Form : uint8_t { kPlain, kInPlace, kOut };
  const OpInfo& op;
  void* args;  // of the op; not to be moved from
  Form form;
  std::span<Tensor> outs;  // kOut: the tensors to write; else empty
  bool records;            // autograd would record it: a composite taken as a whole has no gradient
};

// Implemented by a language's bindings (a front).  Any thread may call the functions.
class Interceptor {
 public:
  virtual ~Interceptor() = default;
  // Returns false if no interceptor takes the call; the op then runs as usual.  Otherwise `results` has the results, a
  // number as a 0-dim tensor; they are ignored for kInPlace and kOut.  The caller sees what this throws.
  virtual bool offer(const OfferedCall& call, std::vector<Tensor>& results) = 0;
  // The value for a call of item(), or nothing if no interceptor gives one: the tensor is then read.
  virtual std::optional<Scalar> read(const Tensor& t) = 0;
  // Replaces the modes of the calling thread and returns the previous ones, so that a thread that works for another one
  // can take over its modes.
  virtual std::shared_ptr<void> exchange_modes(std::shared_ptr<void> modes) = 0;
  virtual std::shared_ptr<void> modes() = 0;
  // The number of transforms around the function that this tensor, which intercepts, belongs to; 0 if it belongs to
  // none.
  virtual int64_t depth(const Tensor& t) = 0;
  // `alias` has become the same tensor as `of`, which intercepts, without its history.
  virtual void share(const Tensor& alias, const Tensor& of) noexcept = 0;
  // The tensor whose `front_object` was set to this is destroyed.
  virtual void forget(void* front_object) noexcept = 0;
};

struct ARGAND_SHARED DispatchHooks {
  // Bits of the calling thread's `state`.
  enum : uint8_t {
    kModes = 1,          // every call is offered
    kBelowAutograd = 2,  // nothing is recorded
    kOff = 4,            // nothing is offered
    kForward = 8,        // tangents travel: ForwardMode (exec/forward_mode.h)
  };
  static inline constinit thread_local uint8_t state = 0;
  // Whether any tensor of the process intercepts; it stays set.
  static inline constinit std::atomic<bool> tensors{false};
  // Whether every call of every thread is offered, for ops that a program has replaced; `tensors` is set then, too.
  static inline constinit std::atomic<bool> all{false};
  static inline constinit std::atomic<Interceptor*> interceptor{nullptr};

  static bool listens() {
    return ((state & kModes) != 0 || tensors.load(std::memory_order_relaxed)) && (state & kOff) == 0;
  }
  static bool tangents_travel() { return (state & (kForward | kBelowAutograd)) == kForward; }
  static bool below_autograd() { return (state & kBelowAutograd) != 0; }
  // A front says that a tensor intercepts by the lowest bit of `front_object`.
  static bool intercepts(const TensorImpl& t) { return (reinterpret_cast<uintptr_t>(t.front_object) & 1) != 0; }
};

// Sets bits of the thread's state for a scope; the others stay as the scope leaves them.
class DispatchStateGuard {
 public:
  explicit DispatchStateGuard(uint8_t set) : set_(set), before_(DispatchHooks::state) { DispatchHooks::state |= set; }
  ~DispatchStateGuard() {
    DispatchHooks::state = static_cast<uint8_t>((DispatchHooks::state & ~set_) | (before_ & set_));
  }
  DispatchStateGuard(const DispatchStateGuard&) = delete;
  DispatchStateGuard& operator=(const DispatchStateGuard&) = delete;

 private:
  uint8_t set_, before_;
};

}  // namespace argand::exec
