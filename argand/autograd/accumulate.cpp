#include "argand/autograd/accumulate.h"

#include <pthread.h>

#include <condition_variable>
#include <map>
#include <thread>

#include "argand/base/fork_mutex.h"
#include "argand/exec/copy.h"
#include "argand/exec/dispatch_hooks.h"
#include "argand/exec/forward_mode.h"
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
  const ObjectLock lock(meta->mutex);
  if (meta->grad_accumulator == this) meta->grad_accumulator = nullptr;
}

namespace {

// Note [Turns at a leaf]
// Threads that add to the gradient of one leaf do so one after the other.  Usually the addition runs while the thread
// holds the leaf's mutex.  That would be a deadlock where a program's code sees the addition, because a dispatch mode
// is active or a tensor intercepts its calls: the code may register a hook on the leaf, which takes the mutex again, or
// it may wait for Python's lock, which another thread holds while it waits for the mutex.  In these cases the thread
// takes a turn instead: it holds no lock while it adds, and other threads that want to add to the same leaf wait for
// the end of its turn.
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

  // Whether any thread has a turn or waits for one.  While a leaf's mutex is held, no turn at this leaf begins without
  // any() reporting it.
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
                       State& all = state();
                       new (&all.changed) std::condition_variable;  // threads that waited are not in the child
                       const auto me = std::this_thread::get_id();
                       std::erase_if(all.turns, [me](const auto& turn) { return turn.second.thread != me; });
                       int mine = 0;
                       for (const auto& [leaf, holder] : all.turns) mine += holder.depth;
                       count.store(mine);
                       all.mutex.unlock();
                     });
      return new State;
    }();
    return *made;
  }
  static inline std::atomic<int> count{0};
  const AutogradMeta* leaf_;
};

bool is_seen(const Tensor& t) {
  return t.defined() && (exec::DispatchHooks::intercepts(t.impl()) || exec::has_tangent(t));
}
bool is_offered() {
  const uint8_t state = exec::DispatchHooks::state;
  return (state & exec::DispatchHooks::kModes) != 0 && (state & exec::DispatchHooks::kOff) == 0;
}

// A copy, laid out as `t`, that modes and intercepting tensors can see, and that has tangents.
Tensor seen_copy(const Tensor& t, const Tensor& gradient) {
  if (!t.is_non_overlapping_and_dense() || gradient.strides() == t.strides()) return gradient.clone();
  return gradient.new_empty_strided(t.sizes(), t.strides()).copy_(gradient);
}

// Where a copy of a gradient lies: as `t` where that fills its memory.
IntArrayRef gradient_strides(const Tensor& t, const Tensor& gradient) {
  return t.is_non_overlapping_and_dense() ? t.strides() : gradient.strides();
}

// The value of .grad after `gradient` is added to `grad`, the value before: `grad` itself if it can be written in
// place. `owners` is as in add_to_grad().
Tensor sum_of(const Tensor& t, const Tensor& grad, Tensor gradient, size_t owners) {
  if (grad.defined()) {
    if (GradMode::is_enabled()) return grad + gradient;
    grad.add_(gradient);
    return grad;
  }
  // A gradient without other owners and with the tensor's layout becomes .grad without a copy.
  const bool takes_over = !GradMode::is_enabled() && gradient.use_count() == owners &&
                          gradient.storage().use_count() == 1 && gradient.strides() == t.strides();
  if (takes_over) return gradient.requires_grad() ? exec::alias(gradient) : gradient;
  // A graph that is itself differentiated shows PyTorch's node.
  if (GradMode::is_enabled())
    return gradient.new_empty_strided(t.sizes(), gradient_strides(t, gradient)).copy_(gradient);
  if (is_offered() || is_seen(gradient)) return seen_copy(t, gradient);
  const NoGradGuard no_grad;
  return exec::dense_clone(gradient, gradient.dtype(), t.is_non_overlapping_and_dense() ? Dims(t.strides()) : Dims());
}

std::vector<Node::Hook> hooks_after_accumulation(const AutogradMeta& meta) {
  std::vector<Node::Hook> after;
  for (const Node::Hook& h : meta.leaf_hooks)
    if (h.input_nr == kAfterAccumulation) after.push_back(h);
  return after;
}

// Adds `gradient` to .grad, and returns the hooks to call afterwards.  `owners` is the reference count that `gradient`
// has if only the caller uses it; .grad may then become this tensor without a copy.
std::vector<Node::Hook> add_to_grad(const Tensor& t, Tensor gradient, size_t owners) {
  AutogradMeta& meta = autograd_meta(t);
  if (!is_offered() && !is_seen(gradient)) {
    const ObjectLock lock(meta.mutex);
    Tensor& grad = meta.grad();
    if (!Turn::any() && !is_seen(grad)) {
      grad = sum_of(t, grad, std::move(gradient), owners);
      return hooks_after_accumulation(meta);
    }
  }
  const Turn turn(meta);
  Tensor before;
  {
    const ObjectLock lock(meta.mutex);
    before = meta.grad();
  }
  Tensor sum = sum_of(t, before, std::move(gradient), owners);
  const ObjectLock lock(meta.mutex);
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
  const ObjectLock lock(meta->mutex);
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
