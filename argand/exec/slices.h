// For callers that run a function once for each slice of some tensors: which tensors differ between the slices, and
// which tensors that existed before the calls the calls write.  The Python package's vmap computes all slices at once
// (docs/design/0020-vmap.md) and asks only which tensors the function made (kMade).
//
// Note [Writes of slices]
// A tensor that all slices share has room for one value, not for one of each slice.  So an in-place write to such a
// tensor is an error if an argument of the op differs between the slices.  If no argument differs, the write takes
// effect once, however many slices there are: before the second and each later slice the tensor is set back to its
// value before the first one, so that all slices read and write the same.  A slice may write the tensors that it makes
// itself as it likes.  A tensor differs between the slices if the scope was told so, or if an op computed it from one
// that does.
//
// Transforms that take gradients (grad, vjp, jvp) call a function once, on tensors whose graph ends with the call.  An
// in-place write must not make a tensor that existed before the call a part of that graph.
#pragma once
#include <atomic>
#include <unordered_set>
#include <utility>
#include <vector>

#include "argand/base/shared.h"
#include "argand/exec/op_info.h"

namespace argand::exec {

// The op that writes in place.  keeps_numbers: it stores values without a gradient, as batch_norm's running statistics.
// draws: it draws random numbers.
struct Write {
  PermanentName op;
  bool is_inplace_only, is_arithmetic, keeps_numbers, draws;
  explicit Write(const OpInfo& info)
      : op(info.name),
        is_inplace_only(info.inplace_only),
        is_arithmetic(info.kind == OpKind::kPointwise || info.crosses_devices),
        keeps_numbers(false),
        draws(info.random) {}
  explicit Write(PermanentName op)
      : op(op), is_inplace_only(false), is_arithmetic(false), keeps_numbers(true), draws(false) {}
};

// The calls of one function, on the thread that made the scope; the last scope made is destroyed first.
class ARGAND_SHARED SlicesScope {
 public:
  // kMade: only notes which tensors are made, for whoever computes all slices at once.
  enum class Kind : uint8_t { kSlices, kGradients, kMade };
  explicit SlicesScope(Kind kind = Kind::kSlices);
  ~SlicesScope();
  SlicesScope(const SlicesScope&) = delete;
  SlicesScope& operator=(const SlicesScope&) = delete;

  // Marks a tensor that is a slice, or by which gradients are taken, or that is made of such a tensor.
  void mark(const Tensor& t);
  // Whether it was marked, or is made of such a tensor.
  bool differs(const Tensor& t) const;
  // Whether the memory of a tensor was made since the scope began.
  bool made(const Tensor& t) const;
  // Call it before each call except the first: it gives tensors that the calls wrote the values from before the first
  // call.
  void next_slice();
  // The tensors written so far that were there before, and what each held after the first call that wrote it; undefined
  // where that was the last call.
  std::vector<std::pair<Tensor, Tensor>> written() const;

  // For the child after fork(), in which the other threads and their scopes do not exist.
  static void keep_those_of_this_thread();
  static bool active() { return innermost != nullptr; }
  // The number of scopes on all threads.
  static inline constinit std::atomic<int> count{0};

 private:
  friend class SlicesOfCall;
  friend void note_made(const Tensor& t);
  friend void note_alias(const Tensor& made, const Tensor& of);
  friend void note_gone(const TensorImpl* t);
  friend void before_write(const Write& write, TensorSlots& arguments, const Tensor& self);
  struct Written {
    Tensor tensor, before, after;
  };
  bool has(const Tensor& t) const;
  void before_write(const Write& write, TensorSlots& arguments, const Tensor& self);

  static inline constinit thread_local SlicesScope* innermost = nullptr;
  SlicesScope* outer_;
  const Kind kind_;
  std::unordered_set<const TensorImpl*> marked_;
  std::unordered_set<const StorageImpl*> made_;  // since the scope began
  std::vector<Written> written_;
  bool first_ = true;
};

// An op's call: its results differ between the slices if one of its arguments does.
class SlicesOfCall {
 public:
  explicit SlicesOfCall(TensorSlots& arguments) {
    if (SlicesScope::active()) [[unlikely]]
      look_at(arguments);
  }
  void mark(std::span<const Tensor> results) const {
    if (!scopes_.empty()) [[unlikely]]
      mark_all(results);
  }

 private:
  void look_at(TensorSlots& arguments);
  void mark_all(std::span<const Tensor> results) const;
  std::vector<SlicesScope*> scopes_;
};

// A tensor with memory of its own was made.
void note_made(const Tensor& t);
// A tensor that shares the memory of another was made, by an op or not.
void note_alias(const Tensor& made, const Tensor& of);
// A tensor is destroyed, on any thread.
void note_gone(const TensorImpl* t);
// An op is about to write `self`: Note [Writes of slices].
void before_write(const Write& write, TensorSlots& arguments, const Tensor& self);

}  // namespace argand::exec
