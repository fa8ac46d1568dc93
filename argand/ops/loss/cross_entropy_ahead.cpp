// Note [Gradient of cross entropy ahead of time]
// The loss of large logits reads all of them, and its gradient reads them again and writes as much: three accesses.  A
// training step needs both, so the loss computes the gradient too, while it has the row at hand: two accesses.  For
// that it must know the gradient of the loss itself.  It expects the last one, at first 1; that is right unless the
// scale of a loss changes or several losses alternate.  The backward pass compares on the device, and computes the
// gradient again if the expectation was wrong: values never depend on it.
//   The loss of few logits computes its gradient in the same kernel, because another launch would take longer than all
// its work.  It expects 1, and the backward pass compares on the host (Note [Known ones]), so a graph may capture it,
// and no work is left to run.  A loss and its backward pass of which only one is captured share nothing.
//   The node is that of the op _cross_entropy, except that it can give its gradient away once.
#include "argand/ops/loss/cross_entropy_ahead.h"

#include <array>
#include <mutex>

#include "argand/base/fork_mutex.h"
#include "argand/exec/dispatch_hooks.h"
#include "argand/exec/forward_mode.h"
#include "argand/exec/known_ones.h"
#include "argand/exec/stream.h"
#include "argand/kernels/api/cross_entropy_forms.h"
#include "argand/ops/define.h"
#include "argand/ops/loss/args.h"
#include "argand/ops/loss/cross_entropy_call.h"
#include "argand/runtime/backend.h"
#include "argand/runtime/current_op.h"

namespace argand::ops {

extern OpInfo CrossEntropyRows_info;

namespace {

// The expected next gradient of a loss, per device: the last one.
class Expectation {
 public:
  // A copy, because the original may change before it is compared.
  Tensor get(const Device& device, ScalarType type) {
    Tensor t;
    {
      const std::lock_guard lock(mutex);
      t = of(device);
    }
    return t.defined() ? exec::dense_clone(t, type) : ones({}, TensorOptions(device).dtype(type));
  }
  void set(const Tensor& gradient) {
    constexpr size_t kSmall = 256;  // not a view that would keep much memory
    if (gradient.storage()->nbytes() > kSmall) return;
    Tensor known = gradient.detach();  // later holds the old one, so that it is not freed under the lock
    const std::lock_guard lock(mutex);
    std::swap(of(gradient.device()), known);
  }

 private:
  Tensor& of(const Device& device) {
    const auto i = static_cast<size_t>(static_cast<unsigned char>(device.index()));
    if (i >= known_.size()) known_.resize(i + 1);
    return known_[i];
  }
  static constinit inline ProcessMutex mutex;
  std::vector<Tensor> known_;
};
Expectation& expectation() {
  static Expectation& e = *new Expectation;  // never destroyed: its tensors may outlive their backend
  return e;
}

class AheadNode final : public GradContext<CrossEntropyRowsArgs> {
 public:
  // `ready` is the gradient of self if that of the loss is `expected`, or is known to be 1 if that is undefined.
  AheadNode(CrossEntropyRowsArgs&& args, Tensor expected, Tensor ready)
      : GradContext(std::move(args)), expected_(std::move(expected)), ready_(std::move(ready)) {}

 private:
  Grads gradient(const Grads& grads) override {
    Grads out(num_tensors());
    const Tensor& g = grads[0];
    if (!g.defined()) return out;
    if (expected_.defined()) expectation().set(g);
    Tensor ready = std::move(ready_);
    if (exec::is_differentiating() || !ready.defined() || captured_ != is_capturing() ||
        (!expected_.defined() && !exec::known_ones(g))) {
      out[0] = _cross_entropy_backward(g, self, target, {}, result(1), result(2), reduction, ignore_index, 0.0);
      return out;
    }
    if (expected_.defined()) make_unless_expected(g, ready);
    out[0] = std::move(ready);
    return out;
  }

  void make_unless_expected(const Tensor& g, const Tensor& ready) {
    const CurrentOp current("_cross_entropy_backward");
    const CrossEntropyTensors t("cross_entropy", self, target, {}, ignore_index, 0, Targets::kCheckedOnCpu);
    const Tensor scale = exec::dense(g, expected_.dtype());
    blocks::cross_entropy_backward_unless.on(ready.device())(
        t.call, result(1).impl().data(), scale.impl().data(),
        reduction == Reduction::Mean ? result(2).impl().data() : nullptr, expected_.impl().data(), ready.impl().data());
  }

  Tensor expected_, ready_;
  const bool captured_ = is_capturing();  // then `ready` belongs to the captured graph
};

bool is_large(const Tensor& logits) {
  constexpr size_t kLarge = size_t{16} << 20;  // does not stay in cache until the backward pass
  // Not while capturing: each replay of the graph would read the expected value, long after it was freed.
  return logits.nbytes() >= kLarge && !is_capturing();
}

// The results of the op _cross_entropy, and `ready`.  False or NotOnDevice, with nothing done, if the device has no
// such kernel.
using Outs = std::array<Tensor, 3>;
bool run_large(const Tensor& logits, const Tensor& target, int64_t reduction, int64_t ignore_index, Outs& outs,
               const Tensor& expected, const Tensor& ready) {
  const CrossEntropyTensors t("cross_entropy", logits, target, {}, ignore_index, 0);
  return run_rows(t, reduction, outs, [&](void* losses, void* weights, void* log_sums) {
    return blocks::cross_entropy_and_gradient.on(logits.device())(
        t.call, reduction == Reduction::Mean, expected.impl().data(), losses, weights, log_sums, ready.impl().data());
  });
}
void run_small(const Tensor& logits, const Tensor& target, int64_t reduction, int64_t ignore_index, Outs& outs,
               const Tensor& ready) {
  const CrossEntropyTensors t("cross_entropy", logits, target, {}, ignore_index, 0, Targets::kCheckedOnCpu);
  blocks::small_cross_entropy.on(logits.device())("cross_entropy", t.call, reduction == Reduction::Mean,
                                                  outs[0].impl().data(), outs[0].dtype(), outs[1].impl().data(),
                                                  outs[2].impl().data(), ready.impl().data());
}

// Whether modes or the tensor itself see the calls that have it as an argument: they would not see this one.
bool is_watched(const Tensor& t) {
  using Hooks = exec::DispatchHooks;
  return exec::has_tangent(t) ||
         (Hooks::listens() && ((Hooks::state & Hooks::kModes) != 0 || Hooks::intercepts(t.impl())));
}

}  // namespace

Tensor cross_entropy_ahead(const Tensor& logits, const Tensor& target, int64_t reduction, int64_t ignore_index,
                           bool wide) {
  if (!logits.is_accelerator() || !logits.requires_grad() || !GradMode::is_enabled() || logits.dim() != 2 ||
      !(target.device() == logits.device()) || (reduction != Reduction::Mean && reduction != Reduction::Sum) ||
      is_watched(logits) || is_watched(target))
    return {};
  const bool small = is_small_cross_entropy(logits.size(0), logits.size(1));
  if (!small && !is_large(logits)) return {};
  const CurrentOp current("_cross_entropy");
  const ScalarType type = op_math_type(logits.dtype());
  const Device& device = logits.device();
  const DeviceScope on_device(device);
  const Tensor expected = small ? Tensor() : expectation().get(device, type);
  const Tensor ready = exec::new_tensor({Dims(logits.sizes()), logits.dtype()}, device);
  Outs outs = {exec::new_tensor({Dims{}, wide ? type : logits.dtype()}, device),
               exec::new_tensor({Dims{logits.size(0)}, type}, device), exec::new_tensor({Dims{}, type}, device)};
  try {
    if (small)
      run_small(logits, target, reduction, ignore_index, outs, ready);
    else if (!run_large(logits, target, reduction, ignore_index, outs, expected, ready))
      return {};
  } catch (const NotOnDevice&) {
    return {};
  }
  CrossEntropyRowsArgs args;
  args.self = logits;
  args.target = target;
  args.reduction = reduction;
  args.ignore_index = ignore_index;
  args.wide = wide;
  const intrusive_ptr<AheadNode> node(new AheadNode(std::move(args), expected, ready));
  node->record(CrossEntropyRows_info, outs, nullptr);
  return outs[0];
}

}  // namespace argand::ops
