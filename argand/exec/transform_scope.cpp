#include "argand/exec/transform_scope.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>

#include "argand/base/error.h"
#include "argand/core/storage.h"
#include "argand/core/tensor.h"

namespace argand::exec {
namespace {

// Tensors may be destroyed on any thread, so the data about them is shared.
std::mutex mutex;
std::vector<TransformScope*>& all_scopes() {
  static auto* const scopes = [] {
    pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); },
                   [] {
                     TransformScope::keep_those_of_this_thread();
                     mutex.unlock();
                   });
    return new std::vector<TransformScope*>;
  }();
  return *scopes;
}

}  // namespace

void TransformScope::keep_those_of_this_thread() {
  all_scopes().clear();
  for (TransformScope* scope = innermost; scope; scope = scope->outer_) all_scopes().push_back(scope);
  count.store(static_cast<int>(all_scopes().size()), std::memory_order_relaxed);
}

TransformScope::TransformScope(Kind kind) : outer_(innermost), kind_(kind) {
  std::vector<TransformScope*>& scopes = all_scopes();
  const std::lock_guard lock(mutex);
  scopes.push_back(this);
  count.fetch_add(1, std::memory_order_relaxed);
  innermost = this;
}

TransformScope::~TransformScope() {
  const std::lock_guard lock(mutex);
  if (outer_) outer_->made_.merge(made_);
  innermost = outer_;
  std::erase(all_scopes(), this);
  count.fetch_sub(1, std::memory_order_relaxed);
}

void TransformScope::mark(const Tensor& t) {
  const std::lock_guard lock(mutex);
  marked_.insert(&t.impl());
}

bool TransformScope::has(const Tensor& t) const { return t.defined() && marked_.contains(&t.impl()); }

bool TransformScope::made(const Tensor& t) const {
  const std::lock_guard lock(mutex);
  for (const TransformScope* scope = innermost; scope != outer_; scope = scope->outer_)
    if (scope->made_.contains(t.storage().get())) return true;
  return false;
}

void TransformScope::before_write(const OpInfo& op, TensorSlots& arguments, const Tensor& self) {
  if (kind_ == Kind::kMade) return;
  bool depends = false;
  {
    const std::lock_guard lock(mutex);
    for (const TensorSlot& s : arguments) depends |= has(*s.tensor);
    if (has(self)) return;
    // Tensors that were made in an inner scope are newer than this scope, too.
    bool made = false;
    for (const TransformScope* scope = innermost; scope != outer_; scope = scope->outer_)
      made |= scope->made_.contains(self.storage().get());
    if (made) {
      if (depends) marked_.insert(&self.impl());
      return;
    }
  }
  ARGAND_CHECK(Error, !depends,
               "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place "
               "operation (aten::",
               op.name, op.inplace_only ? "" : "_",
               ") that would mutate a captured Tensor. This is not supported; please rewrite the function being "
               "transformed to explicitly accept the mutated Tensor(s) as inputs.");
}

void CallWithinTransforms::look_at(TensorSlots& arguments) {
  const std::lock_guard lock(mutex);
  for (TransformScope* scope = TransformScope::innermost; scope; scope = scope->outer_)
    if (std::any_of(arguments.begin(), arguments.end(), [&](const TensorSlot& s) { return scope->has(*s.tensor); }))
      scopes_.push_back(scope);
}

void CallWithinTransforms::mark_all(std::span<const Tensor> results) const {
  const std::lock_guard lock(mutex);
  for (TransformScope* const scope : scopes_)
    for (const Tensor& t : results) scope->marked_.insert(&t.impl());
}

void note_made(const Tensor& t) {
  const std::lock_guard lock(mutex);
  TransformScope::innermost->made_.insert(t.storage().get());
}

void note_alias(const Tensor& made, const Tensor& of) {
  const std::lock_guard lock(mutex);
  for (TransformScope* scope = TransformScope::innermost; scope; scope = scope->outer_)
    if (scope->has(of)) scope->marked_.insert(&made.impl());
}

void note_gone(const TensorImpl* t) {
  const std::lock_guard lock(mutex);
  for (TransformScope* const scope : all_scopes()) scope->marked_.erase(t);
}

void before_write(const OpInfo& op, TensorSlots& arguments, const Tensor& self) {
  if (TransformScope::paused) return;
  for (TransformScope* scope = TransformScope::innermost; scope; scope = scope->outer_)
    scope->before_write(op, arguments, self);
}

}  // namespace argand::exec
