#include "argand/exec/forward_mode.h"

#include <algorithm>
#include <utility>

#include "argand/base/fork_mutex.h"
#include "argand/exec/dispatch_hooks.h"
#include "argand/exec/invoke.h"
#include "argand/exec/transform_scope.h"

namespace argand::exec {

namespace {

// The levels that have not ended.
struct Living {
  ProcessMutex mutex;
  std::unordered_set<ForwardLevel*> levels;
};
Living& living() {
  static auto& all = *new Living;
  return all;
}

ForwardLevels living_levels() {
  ForwardLevels out;
  if (ForwardLevel::count.load(std::memory_order_relaxed) == 0) return out;
  const std::lock_guard lock(living().mutex);
  for (ForwardLevel* const level : living().levels)
    if (auto alive = intrusive_ptr<ForwardLevel>::if_alive(level)) out.push_back(std::move(alive));
  return out;
}

}  // namespace

// ---- a level

ForwardLevel::ForwardLevel(int64_t depth) : depth_(depth) {
  const std::lock_guard lock(living().mutex);
  living().levels.insert(this);
  count.fetch_add(1, std::memory_order_relaxed);
}

ForwardLevel::~ForwardLevel() { end(); }

void ForwardLevel::end() {
  {
    const std::lock_guard lock(living().mutex);
    if (living().levels.erase(this)) count.fetch_sub(1, std::memory_order_relaxed);
  }
  std::unordered_map<const TensorImpl*, Tensor> freed;  // after the lock: tangents may be tensors with tangents
  const ObjectLock lock(mutex_);
  ended_ = true;
  freed.swap(tangents_);
  apart_.clear();
}

Tensor ForwardLevel::own(const TensorImpl* t) const {
  const ObjectLock lock(mutex_);
  const auto at = tangents_.find(t);
  return at == tangents_.end() ? Tensor() : at->second;
}

void ForwardLevel::set(const Tensor& t, Tensor tangent) {
  const ObjectLock lock(mutex_);
  if (!ended_) std::swap(tangents_[&t.impl()], tangent);
}

void ForwardLevel::drop(const TensorImpl* t) {
  Tensor freed;
  const ObjectLock lock(mutex_);
  apart_.erase(t);
  const auto at = tangents_.find(t);
  if (at == tangents_.end()) return;
  freed = std::move(at->second);
  tangents_.erase(at);
}

bool ForwardLevel::follows_base(const TensorImpl* t) const {
  const ObjectLock lock(mutex_);
  return !apart_.contains(t);
}

void ForwardLevel::set_apart(const TensorImpl* t) {
  const ObjectLock lock(mutex_);
  if (!ended_) apart_.insert(t);
}

// ---- which levels are active

namespace {

struct State {
  ForwardLevels levels;
  bool enabled = true;
};

State& state() {
  static thread_local State of_thread;
  return of_thread;
}

void note_state() {
  const State& s = state();
  const bool any = s.enabled && !s.levels.empty();
  DispatchHooks::state =
      static_cast<uint8_t>((DispatchHooks::state & ~DispatchHooks::kForward) | (any ? DispatchHooks::kForward : 0));
}

ForwardLevels outside(const ForwardLevel& level) {
  ForwardLevels out;
  for (const auto& l : state().levels)
    if (l->depth() < level.depth()) out.push_back(l);
  return out;
}

}  // namespace

const ForwardLevels& ForwardMode::active() {
  static const ForwardLevels& none = *new ForwardLevels;
  return DispatchHooks::tangents_travel() ? state().levels : none;
}
const ForwardLevels& ForwardMode::entered() { return state().levels; }
bool ForwardMode::is_enabled() { return state().enabled; }
void ForwardMode::set_enabled(bool enabled) {
  state().enabled = enabled;
  note_state();
}
void ForwardMode::enter(const intrusive_ptr<ForwardLevel>& level) {
  state().levels.push_back(level);
  note_state();
}
void ForwardMode::exit(const intrusive_ptr<ForwardLevel>& level) {
  std::erase(state().levels, level);
  note_state();
}

ForwardMode::Scope::Scope(ForwardLevels levels, bool enabled)
    : levels_before_(std::exchange(state().levels, std::move(levels))),
      enabled_before_(std::exchange(state().enabled, enabled)) {
  note_state();
}
ForwardMode::Scope::Scope(const ForwardLevel& within) : Scope(outside(within), state().enabled) {}
ForwardMode::Scope::~Scope() {
  state().levels = std::move(levels_before_);
  state().enabled = enabled_before_;
  note_state();
}

// ---- tangents of tensors

namespace {

// Whether `a` lies in memory as `b` does, so that a view of the one is at the same place as that of the other.
bool same_layout(const Tensor& a, const Tensor& b) {
  if (a.numel() == 0) return true;
  if (a.storage_offset() != b.storage_offset() || a.storage()->nbytes() != b.storage()->nbytes()) return false;
  for (int64_t d = 0; d < a.dim(); ++d)
    if (a.size(d) > 1 && a.stride(d) != b.stride(d)) return false;
  return true;
}

// New memory of zeros for the tangent of `t`, with the layout of `t`.
Tensor zeros_as(const Tensor& tangent, const Tensor& t) {
  if (DispatchHooks::intercepts(tangent.impl())) {
    const Tensor out = tangent.new_empty_strided(t.sizes(), t.strides());
    return out.zero_(), out;
  }
  const int64_t elements = static_cast<int64_t>(t.storage()->nbytes()) / t.itemsize();
  return tangent.new_zeros({elements}).as_strided(t.sizes(), t.strides(), t.storage_offset());
}

Tensor laid_out_as(const Tensor& tangent, const Tensor& t) {
  if (same_layout(tangent, t)) return tangent;
  const Tensor out = zeros_as(tangent, t);
  return out.copy_(tangent), out;
}

// Undefined unless it is a view that has the tangent of its base.
Tensor base_of(const Tensor& t, const ForwardLevel& level) {
  const AutogradMeta* const meta = autograd_meta_or_null(t);
  return meta && meta->base.defined() && level.follows_base(&t.impl()) ? meta->base : Tensor();
}

}  // namespace

Tensor tangent_of(const Tensor& t, ForwardLevel& level) {
  if (!t.defined()) return {};
  Tensor own = level.own(&t.impl());
  if (own.defined()) return own;
  const Tensor base = base_of(t, level);
  const Tensor whole = base.defined() ? level.own(&base.impl()) : Tensor();
  if (!whole.defined()) return {};
  // The base got its tangent after the view was made.
  const ForwardMode::Scope outside(level);
  Tensor part = whole.as_strided(t.sizes(), t.strides(), t.storage_offset());
  level.set(t, part);
  return part;
}

bool has_tangent(const Tensor& t) {
  return t.defined() &&
         std::ranges::any_of(living_levels(), [&](const auto& l) { return l->own(&t.impl()).defined(); });
}

void set_tangent(const Tensor& t, ForwardLevel& level, Tensor tangent, bool in_place) {
  const TransformScope::Pause writes;
  const Tensor before = in_place ? tangent_of(t, level) : Tensor();
  if (before.defined()) {
    if (!before.is_same(tangent)) before.copy_(tangent);
    return;
  }
  const Tensor base = in_place ? base_of(t, level) : Tensor();
  if (base.defined()) {
    const Tensor whole = zeros_as(tangent, base);
    level.set(base, whole);
    const Tensor part = whole.as_strided(t.sizes(), t.strides(), t.storage_offset());
    part.copy_(tangent);
    return level.set(t, part);
  }
  // A tensor that stands for slices is laid out only where a view may need it, because that costs a call of Python for
  // each op.
  const bool as_is = !in_place && DispatchHooks::intercepts(tangent.impl());
  level.set(t, as_is ? tangent : laid_out_as(tangent, t));
}

bool is_differentiating() { return GradMode::is_enabled() || DispatchHooks::tangents_travel(); }

bool is_differentiated(const Tensor& t) {
  if (GradMode::is_enabled() && t.requires_grad()) return true;
  return std::ranges::any_of(ForwardMode::active(), [&](const auto& l) { return tangent_of(t, *l).defined(); });
}

void share_tangents(const Tensor& alias, const Tensor& of) {
  for (const auto& level : living_levels()) {
    Tensor own = level->own(&of.impl());
    if (own.defined()) level->set(alias, std::move(own));
  }
}

Tensor alias_with_tangents(const Tensor& t) {
  Tensor out = alias(t);
  if (ForwardLevel::count.load(std::memory_order_relaxed)) [[unlikely]] {
    share_tangents(out, t);
    KeptResults::note(out, t);
  }
  return out;
}

void copy_tangents(const Tensor& copy, const Tensor& of) {
  const ForwardMode::Scope none;
  for (const auto& level : living_levels()) {
    const Tensor tangent = level->own(&of.impl());
    if (!tangent.defined()) continue;
    const Tensor own = tangent.clone();
    copy_tangents(own, tangent);
    level->set(copy, own);
  }
}

void KeptResults::share() const {
  for (const auto& [alias, of] : aliases_) share_tangents(alias, of);
}

void note_forward_view(const Tensor& view, const Tensor& of) {
  for (const auto& level : living_levels())
    if (!level->follows_base(&of.impl())) level->set_apart(&view.impl());
}

void forget_tangents(const TensorImpl* t) noexcept {
  for (const auto& level : living_levels()) level->drop(t);
}

void drop_tangents(const Tensor& t) { forget_tangents(&t.impl()); }

}  // namespace argand::exec
