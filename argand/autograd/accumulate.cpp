#include "argand/autograd/accumulate.h"

#include <pthread.h>

#include <condition_variable>
#include <map>
#include <thread>

#include "argand/exec/copy.h"
#include "argand/exec/dispatch_hooks.h"
#include "argand/exec/invoke.h"
#include "argand/exec/node_hooks.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::autograd {

AccumulateGrad::AccumulateGrad(Tensor leaf) : leaf_(std::move(leaf)) {
  sequence_nr_ = UINT64_MAX;  // a leaf's gradient is final before anything else needs it
  add_input(leaf_);
}

AccumulateGrad::~AccumulateGrad() {
  AutogradMeta* meta = leaf_.defined() ? autograd_meta_or_null(leaf_) : nullptr;
  if (!meta) return;
  const std::lock_guard lock(meta->mutex);
  if (meta->grad_accumulator == this) meta->grad_accumulator = nullptr;
}

namespace {

// Note [Turns at a leaf]
// Threads that add to one .grad do so one after the other.  Ops run under the leaf's mutex, unless a program's code may
// see them (a dispatch mode, a class of tensors that intercepts): that code may wait for what another thread holds who
// waits for the mutex, or ask the leaf something itself.  Then the thread has its turn instead, and holds no lock.
class Turn {
 public:
  explicit Turn(const AutogradMeta& leaf) : leaf_(&leaf) {
    State& all = state();
    std::unique_lock lock(all.mutex);
    count.fetch_add(1);
    all.changed.wait(lock, [&] {
      const auto of_leaf = all.turns.find(leaf_);
      return of_leaf == all.turns.end() || of_leaf->second.thread == std::this_thread::get_id();
    });
    Holder& holder = all.turns[leaf_];
    holder.thread = std::this_thread::get_id();
    ++holder.depth;  // code that a mode runs may call backward() itself
  }
  ~Turn() {
    State& all = state();
    const std::lock_guard lock(all.mutex);
    count.fetch_sub(1);
    const auto of_leaf = all.turns.find(leaf_);
    if (--of_leaf->second.depth == 0) all.turns.erase(of_leaf);
    all.changed.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Under the mutex of a leaf, whether somebody may have a turn: it began, or waited for, before the mutex was taken.
  static bool any() { return count.load() != 0; }

 private:
  struct Holder {
    std::thread::id thread;
    int depth = 0;
  };
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<const AutogradMeta*, Holder> turns;
  };
  static State& state() {
    static auto* const made = [] {
      pthread_atfork([] { state().mutex.lock(); }, [] { state().mutex.unlock(); },
                     [] {
                       new (&state()) State;  // the threads whose turn it was are not there
                       count.store(0);
                     });
      return new State;
    }();
    return *made;
  }
  static inline std::atomic<int> count{0};
  const AutogradMeta* leaf_;
};

bool is_seen(const Tensor& t) { return t.defined() && exec::DispatchHooks::intercepts(t.impl()); }
bool is_offered() {
  const uint8_t state = exec::DispatchHooks::state;
  return (state & exec::DispatchHooks::kModes) != 0 && (state & exec::DispatchHooks::kOff) == 0;
}

// .grad after `gradient` is added to `grad`, which may be that tensor; `owners`, as of add_to_grad.
Tensor sum_of(const Tensor& t, const Tensor& grad, Tensor gradient, size_t owners) {
  if (grad.defined()) {
    if (GradMode::is_enabled()) return grad + gradient;
    grad.add_(gradient);
    return grad;
  }
  // A gradient that is nobody else's, and laid out as the tensor, becomes .grad without a copy.
  const bool takes_over = !GradMode::is_enabled() && gradient.use_count() == owners &&
                          gradient.storage().use_count() == 1 && gradient.strides() == t.strides();
  if (takes_over) return gradient.requires_grad() ? exec::alias(gradient) : gradient;
  if (GradMode::is_enabled() || is_seen(gradient)) return gradient.clone();
  const NoGradGuard no_grad;
  return exec::dense_clone(gradient, gradient.dtype(), t.is_non_overlapping_and_dense() ? Dims(t.strides()) : Dims());
}

std::vector<Node::Hook> hooks_after_accumulation(const AutogradMeta& meta) {
  std::vector<Node::Hook> after;
  for (const Node::Hook& h : meta.leaf_hooks)
    if (h.input_nr == kAfterAccumulation) after.push_back(h);
  return after;
}

// Puts `gradient`, which has so many owners if it is nobody else's, into .grad; returns the hooks to call then.
std::vector<Node::Hook> add_to_grad(const Tensor& t, Tensor gradient, size_t owners) {
  AutogradMeta& meta = autograd_meta(t);
  if (!is_offered() && !is_seen(gradient)) {
    const std::lock_guard lock(meta.mutex);
    Tensor& grad = meta.grad();
    if (!Turn::any() && !is_seen(grad)) {
      grad = sum_of(t, grad, std::move(gradient), owners);
      return hooks_after_accumulation(meta);
    }
  }
  const Turn turn(meta);
  Tensor before;
  {
    const std::lock_guard lock(meta.mutex);
    before = meta.grad();
  }
  Tensor sum = sum_of(t, before, std::move(gradient), owners);
  const std::lock_guard lock(meta.mutex);
  std::swap(meta.grad(), sum);
  return hooks_after_accumulation(meta);
}

}  // namespace

void accumulate_grad(const Tensor& t, Tensor gradient) {
  for (const Node::Hook& h : add_to_grad(t, std::move(gradient), 1)) h.call(t);
}

Grads AccumulateGrad::apply(Grads grads) {
  if (!grads[0].defined()) return {};
  // A hook on this node is given the tensor that became .grad, as in PyTorch; then the list `grads` owns it, too.
  const bool seen = !hooks_after(*this).empty();
  for (const Node::Hook& h : add_to_grad(leaf_, std::move(grads[0]), seen ? 2 : 1)) h.call(leaf_);
  return {};
}

}  // namespace argand::autograd

namespace argand {

autograd::Edge gradient_edge(const Tensor& t) {
  if (auto fn = t.grad_fn()) return {std::move(fn), t.output_nr()};
  AutogradMeta* meta = autograd_meta_or_null(t);
  if (!meta || !meta->requires_grad) return {};
  const std::lock_guard lock(meta->mutex);
  auto node = intrusive_ptr<autograd::Node>::if_alive(meta->grad_accumulator);
  if (!node) {
    node = intrusive_ptr<autograd::Node>(new autograd::AccumulateGrad(t));
    for (const autograd::Node::Hook& h : meta->leaf_hooks)
      if (h.input_nr != autograd::kAfterAccumulation) node->add_hook(h);
    meta->grad_accumulator = node.get();
  }
  return {std::move(node), 0};
}

}  // namespace argand
