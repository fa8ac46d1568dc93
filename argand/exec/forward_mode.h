// Forward mode: tangents that travel with tensors, op by op (docs/design/0022-forward-mode.md).
//
// A level is one direction of differentiation, and knows the tensors that have a tangent for it.  While a level is
// active on a thread, the choke point gives the results of every call with such a tensor among its arguments their
// tangents.  Levels are nested as transforms are: the tangent for an inner level may itself have a tangent for an outer
// one.
//
// While no level is active, a call only checks a bit of the thread's state.
#pragma once
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "argand/base/shared.h"
#include "argand/exec/graph.h"

namespace argand::exec {

// Any thread may use it.
class ARGAND_SHARED ForwardLevel final : public RefCounted {
 public:
  // `depth`: how many transforms the level is in, itself among them.
  explicit ForwardLevel(int64_t depth);
  ~ForwardLevel() override;
  int64_t depth() const { return depth_; }
  // The tangent that the tensor itself was given, undefined if there is none.
  Tensor own(const TensorImpl* t) const;
  void set(const Tensor& t, Tensor tangent);
  void drop(const TensorImpl* t);
  // Whether a view without a tangent has that part of its base's; a view of a view that hasn't doesn't have it, either.
  bool follows_base(const TensorImpl* t) const;
  void set_apart(const TensorImpl* t);
  // Frees all tangents; there are none any more.
  void end();

  // The levels that have not ended, of all threads.
  static inline constinit std::atomic<int> count{0};

 private:
  const int64_t depth_;
  mutable std::mutex mutex_;
  bool ended_ = false;
  std::unordered_map<const TensorImpl*, Tensor> tangents_;
  std::unordered_set<const TensorImpl*> apart_;
};

using ForwardLevels = std::vector<intrusive_ptr<ForwardLevel>>;

// Which levels are active on the calling thread.
class ARGAND_SHARED ForwardMode {
 public:
  // The outermost first; empty where tangents do not travel.
  static const ForwardLevels& active();
  // The levels that were entered, also while tangents do not travel.
  static const ForwardLevels& entered();
  static bool is_enabled();
  static void set_enabled(bool enabled);
  static void enter(const intrusive_ptr<ForwardLevel>& level);
  static void exit(const intrusive_ptr<ForwardLevel>& level);

  // Other levels for a scope.
  class ARGAND_SHARED Scope {
   public:
    Scope(ForwardLevels levels, bool enabled);
    // The active levels outside of this one.
    explicit Scope(const ForwardLevel& within);
    // No levels.
    Scope() : Scope({}, true) {}
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ForwardLevels levels_before_;
    bool enabled_before_;
  };
};

// The tensor's tangent for a level, undefined if there is none.
Tensor tangent_of(const Tensor& t, ForwardLevel& level);
// Whether it has a tangent of its own for any level, active or not.
bool has_tangent(const Tensor& t);
// Gives it a tangent, which gets the tensor's layout in memory if it has another.  `in_place`: the tensor has just been
// written, so the tangent that it has is overwritten, and its base gets a tangent.
void set_tangent(const Tensor& t, ForwardLevel& level, Tensor tangent, bool in_place = false);

// An alias of a tensor with the same tangents, for what the graph keeps.
Tensor alias_with_tangents(const Tensor& t);
void share_tangents(const Tensor& alias, const Tensor& of);
// Gives a copy of `of`, made before `of` is written, copies of its tangents.
void copy_tangents(const Tensor& copy, const Tensor& of);
// `view` was made of `of`; `t` is destroyed; its memory and history are those of another tensor.
void note_forward_view(const Tensor& view, const Tensor& of);
void forget_tangents(const TensorImpl* t) noexcept;
void drop_tangents(const Tensor& t);

// Note [Tangents of what the graph keeps]
// The graph keeps aliases of an op's results, and makes them before the results have tangents.  While a call runs whose
// results will get some, this notes the aliases that are made of any tensor; share() then gives those of the results
// the same tangents.
class ARGAND_SHARED KeptResults {
 public:
  KeptResults() : outer_(innermost) { innermost = this; }
  ~KeptResults() { innermost = outer_; }
  KeptResults(const KeptResults&) = delete;
  KeptResults& operator=(const KeptResults&) = delete;
  static void note(const Tensor& alias, const Tensor& of) {
    if (innermost) innermost->aliases_.emplace_back(alias, of);
  }
  void share() const;

 private:
  static inline constinit thread_local KeptResults* innermost = nullptr;
  KeptResults* const outer_;
  std::vector<std::pair<Tensor, Tensor>> aliases_;
};

// Whether something may differentiate what runs now, and whether it may differentiate by this tensor: for composites
// and gradients that have a faster way without derivatives.
bool is_differentiating();
bool is_differentiated(const Tensor& t);

// ---- For the choke point.  Defined in autograd/forward_mode.cpp, because tangents follow from gradients.

// False if the call belongs to no level: it then runs as usual.
bool forward_plain(const OpInfo& op, void* args, std::span<Tensor> outs);
bool forward_inplace(const OpInfo& op, void* args, const Tensor& self);
// The form that has the op's own name.
bool forward_call(const OpInfo& op, void* args, std::vector<Tensor>& results);
// Whether one of the tensors has a tangent, so that a composite must be taken apart.
bool has_tangents(TensorSlots& slots);
// NotImplementedError if tangents would have to travel into `outs`.
void check_forward_out(const OpInfo& op, void* args, std::span<const Tensor> outs);

// The end of an edge along which J^T of a single op goes: Note [Tangents of an op].
bool is_tangent_edge(const autograd::Edge& edge);

}  // namespace argand::exec
