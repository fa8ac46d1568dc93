// For transforms of functions (the Python package's grad, vjp, jvp and vmap): which tensors depend on the inputs of the
// transform, and which were made since it began.
//
// Note [Writes within transforms]
// Transforms that take gradients call a function once, on tensors whose graph ends with the call.  An in-place write
// must not make a tensor that existed before the call a part of that graph, so it is an error if an argument of the op
// depends on the inputs.  vmap computes all slices at once (docs/design/0020-vmap.md): a tensor that the function made
// may become one of all slices when slices are written into it, and any other may not.
#pragma once
#include <atomic>
#include <span>
#include <unordered_set>
#include <vector>

#include "argand/base/shared.h"
#include "argand/exec/op_info.h"

namespace argand::exec {

// The call of one function, on the thread that made the scope; the last scope made is destroyed first.
class ARGAND_SHARED TransformScope {
 public:
  // kGradients refuses writes: Note [Writes within transforms].  kMade only notes which tensors are made.
  enum class Kind : uint8_t { kGradients, kMade };
  explicit TransformScope(Kind kind);
  ~TransformScope();
  TransformScope(const TransformScope&) = delete;
  TransformScope& operator=(const TransformScope&) = delete;

  // Marks a tensor by which gradients are taken; what ops compute from marked tensors is marked, too.
  void mark(const Tensor& t);
  // Whether the memory of a tensor was made since the scope began.
  bool made(const Tensor& t) const;

  // For the child after fork(), in which the other threads and their scopes do not exist.
  static void keep_those_of_this_thread();
  static bool active() { return innermost != nullptr; }
  // While it lives, this thread's writes are not looked at: those of tangents, which follow writes that were.
  class Pause {
   public:
    Pause() : before_(paused) { paused = true; }
    ~Pause() { paused = before_; }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    const bool before_;
  };
  // The number of scopes on all threads.
  static inline constinit std::atomic<int> count{0};

 private:
  friend class CallWithinTransforms;
  friend void note_made(const Tensor& t);
  friend void note_alias(const Tensor& made, const Tensor& of);
  friend void note_gone(const TensorImpl* t);
  friend void before_write(const OpInfo& op, TensorSlots& arguments, const Tensor& self);
  bool has(const Tensor& t) const;
  void before_write(const OpInfo& op, TensorSlots& arguments, const Tensor& self);

  static inline constinit thread_local TransformScope* innermost = nullptr;
  static inline constinit thread_local bool paused = false;
  TransformScope* outer_;
  const Kind kind_;
  std::unordered_set<const TensorImpl*> marked_;
  std::unordered_set<const StorageImpl*> made_;  // since the scope began
};

// An op's call: its results are marked if one of its arguments is.
class CallWithinTransforms {
 public:
  explicit CallWithinTransforms(TensorSlots& arguments) {
    if (TransformScope::active()) [[unlikely]]
      look_at(arguments);
  }
  void mark(std::span<const Tensor> results) const {
    if (!scopes_.empty()) [[unlikely]]
      mark_all(results);
  }

 private:
  void look_at(TensorSlots& arguments);
  void mark_all(std::span<const Tensor> results) const;
  std::vector<TransformScope*> scopes_;
};

// A tensor with memory of its own was made.
void note_made(const Tensor& t);
// A tensor that shares the memory of another was made, by an op or not.
void note_alias(const Tensor& made, const Tensor& of);
// A tensor is destroyed, on any thread.
void note_gone(const TensorImpl* t);
// An op is about to write `self`: Note [Writes within transforms].
void before_write(const OpInfo& op, TensorSlots& arguments, const Tensor& self);

}  // namespace argand::exec
