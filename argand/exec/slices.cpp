#include "argand/exec/slices.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>

#include "argand/core/draw_watch.h"
#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"

namespace argand::exec {
namespace {

// Tensors may be destroyed on any thread, so the data about them is shared.
std::mutex mutex;
std::vector<SlicesScope*>& all_scopes() {
  static auto* const scopes = [] {
    pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); },
                   [] {
                     SlicesScope::keep_those_of_this_thread();
                     mutex.unlock();
                   });
    return new std::vector<SlicesScope*>;
  }();
  return *scopes;
}

}  // namespace

void SlicesScope::keep_those_of_this_thread() {
  all_scopes().clear();
  for (SlicesScope* scope = innermost; scope; scope = scope->outer_) all_scopes().push_back(scope);
  count.store(static_cast<int>(all_scopes().size()), std::memory_order_relaxed);
}

SlicesScope::SlicesScope(Kind kind) : outer_(innermost), kind_(kind) {
  std::vector<SlicesScope*>& scopes = all_scopes();
  const std::lock_guard lock(mutex);
  scopes.push_back(this);
  count.fetch_add(1, std::memory_order_relaxed);
  innermost = this;
}

SlicesScope::~SlicesScope() {
  const std::lock_guard lock(mutex);
  if (outer_) outer_->made_.merge(made_);
  innermost = outer_;
  std::erase(all_scopes(), this);
  count.fetch_sub(1, std::memory_order_relaxed);
}

void SlicesScope::mark(const Tensor& t) {
  const std::lock_guard lock(mutex);
  marked_.insert(&t.impl());
}

bool SlicesScope::has(const Tensor& t) const { return t.defined() && marked_.contains(&t.impl()); }

bool SlicesScope::differs(const Tensor& t) const {
  const std::lock_guard lock(mutex);
  return has(t);
}

bool SlicesScope::made(const Tensor& t) const {
  const std::lock_guard lock(mutex);
  for (const SlicesScope* scope = innermost; scope != outer_; scope = scope->outer_)
    if (scope->made_.contains(t.storage().get())) return true;
  return false;
}

void SlicesScope::next_slice() {
  first_ = false;
  for (Written& w : written_) {
    if (!w.after.defined()) w.after = dense_clone(w.tensor);
    copy_elements(w.tensor, w.before);
  }
}

std::vector<std::pair<Tensor, Tensor>> SlicesScope::written() const {
  std::vector<std::pair<Tensor, Tensor>> result;
  for (const Written& w : written_) result.emplace_back(w.tensor, w.after);
  return result;
}

void SlicesScope::before_write(const Write& write, TensorSlots& arguments, const Tensor& self) {
  if (kind_ == Kind::kMade) return;
  bool differs = false;
  {
    const std::lock_guard lock(mutex);
    for (const TensorSlot& s : arguments) differs |= has(*s.tensor);
    if (has(self)) return;
    // Tensors that were made in an inner scope are newer than this scope, too.
    bool made = false;
    for (const SlicesScope* scope = innermost; scope != outer_; scope = scope->outer_)
      made |= scope->made_.contains(self.storage().get());
    if (made) {
      if (differs) marked_.insert(&self.impl());
      return;
    }
  }
  const std::string name = std::string(write.op) + (write.is_inplace_only ? "" : "_");
  if (kind_ == Kind::kGradients) {
    ARGAND_CHECK(Error, !differs || write.keeps_numbers,
                 "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place "
                 "operation (aten::",
                 name,
                 ") that would mutate a captured Tensor. This is not supported; please rewrite the function being "
                 "transformed to explicitly accept the mutated Tensor(s) as inputs.");
    return;
  }
  const std::string what = write.is_arithmetic ? "inplace arithmetic" : name;
  ARGAND_CHECK(
      Error, !differs, "vmap: ", what,
      "(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more "
      "elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over "
      "in a vmap. Please try to use out-of-place operators instead of ",
      what, ". The op that would write is aten::", name, ".");
  const auto same = [&](const Written& w) {
    const TensorImpl &a = w.tensor.impl(), &b = self.impl();
    return a.storage.get() == b.storage.get() && a.offset == b.offset && a.sizes == b.sizes && a.strides == b.strides;
  };
  if (std::ranges::any_of(written_, same)) {
    ARGAND_CHECK(NotImplementedError, first_ || !self.requires_grad(), "vmap: aten::", name,
                 ": expected a captured tensor without a history, got one that requires a gradient and that each "
                 "slice would write, and record, anew");
    return;
  }
  if (self.is_meta()) return;
  written_.push_back({alias(self), dense_clone(self), Tensor()});
}

void SlicesOfCall::look_at(TensorSlots& arguments) {
  const std::lock_guard lock(mutex);
  for (SlicesScope* scope = SlicesScope::innermost; scope; scope = scope->outer_)
    if (std::any_of(arguments.begin(), arguments.end(), [&](const TensorSlot& s) { return scope->has(*s.tensor); }))
      scopes_.push_back(scope);
}

void SlicesOfCall::mark_all(std::span<const Tensor> results) const {
  const std::lock_guard lock(mutex);
  for (SlicesScope* const scope : scopes_)
    for (const Tensor& t : results) scope->marked_.insert(&t.impl());
}

void note_made(const Tensor& t) {
  const std::lock_guard lock(mutex);
  SlicesScope::innermost->made_.insert(t.storage().get());
}

void note_alias(const Tensor& made, const Tensor& of) {
  const std::lock_guard lock(mutex);
  for (SlicesScope* scope = SlicesScope::innermost; scope; scope = scope->outer_)
    if (scope->has(of)) scope->marked_.insert(&made.impl());
}

void note_gone(const TensorImpl* t) {
  const std::lock_guard lock(mutex);
  for (SlicesScope* const scope : all_scopes()) scope->marked_.erase(t);
}

void before_write(const Write& write, TensorSlots& arguments, const Tensor& self) {
  if (write.draws && DrawWatch::active()) {
    std::vector<Tensor> parameters;
    for (const TensorSlot& s : arguments)
      if (s.tensor->defined() && &s.tensor->impl() != &self.impl()) parameters.push_back(*s.tensor);
    announce_parameters(parameters);
  }
  for (SlicesScope* scope = SlicesScope::innermost; scope; scope = scope->outer_)
    scope->before_write(write, arguments, self);
}

}  // namespace argand::exec
