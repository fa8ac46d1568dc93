// The graph of recorded ops: nodes, edges, and autograd's data of a tensor.  The engine that runs it is in autograd/.
#pragma once
#include <memory>
#include <mutex>

#include "argand/core/grad_mode.h"
#include "argand/exec/op_info.h"
#include "argand/exec/place.h"
#include "argand/exec/saved_hooks.h"

namespace argand {

namespace autograd {

// Input `input_nr` of `function`: where a gradient goes.
struct Edge {
  intrusive_ptr<Node> function;
  uint32_t input_nr = 0;
  bool is_valid() const { return function != nullptr; }
};

// The shape and dtype that a gradient must have.
struct GradMeta {
  GradMeta() = default;
  explicit GradMeta(const Tensor& t) : sizes(t.sizes()), dtype(t.dtype()), device(t.device()) {}
  Dims sizes;
  ScalarType dtype = kFloat;
  Device device;
};

// The metadata of an argument that was not kept, for the gradient.
struct ArgumentMeta {
  ArgumentMeta() = default;
  explicit ArgumentMeta(const Tensor& t)
      : sizes(t.impl().sizes), strides(t.impl().strides), offset(t.storage_offset()), dtype(t.dtype()) {}
  Dims sizes, strides;
  int64_t offset = 0;
  ScalarType dtype = kFloat;
};

struct NodeExtras;  // exec/node_hooks.h

// A function of the backward graph.  Its inputs are the gradients of a forward op's results, its outputs the gradients
// of the op's arguments, which flow along `next_edges`.
class Node : public RefCounted {
 public:
  Node();
  virtual std::string name() const = 0;
  // `grads` has one entry per result of the forward op; undefined where nothing flowed in.
  virtual Grads apply(Grads grads) = 0;
  // Drops what was saved; a second backward through the node is then a GradError.
  virtual void release_variables() {}

  uint64_t sequence_nr() const { return sequence_nr_; }
  void set_sequence_nr(uint64_t nr) { sequence_nr_ = nr; }
  const std::vector<Edge>& next_edges() const { return next_edges_; }
  std::vector<Edge>& next_edges() { return next_edges_; }
  size_t num_inputs() const { return input_metas_.size(); }
  const GradMeta& input_meta(size_t i) const { return input_metas_[i]; }
  uint32_t add_input(const Tensor& forward_result);
  // Where the forward op ran and where this node runs: the device of its first result on a GPU with the stream that was
  // current there, otherwise the CPU.
  const exec::Place& place() const { return place_; }

  struct Hook {
    unsigned handle;
    uint32_t input_nr;
    std::function<Tensor(Tensor)> call;
    bool retains = false;  // is retain_grad's: runs after all others
  };
  const std::vector<Hook>& hooks() const { return hooks_; }  // tensor hooks, run on this node's inputs
  void add_hook(Hook hook);
  std::optional<Hook> take_hook(unsigned handle);  // removes it
  // Result `nr` of this node, kept without history, as a tensor with history: for double backward.
  virtual Tensor with_history(const Tensor& result, uint32_t nr);
  // Says that this node runs as part of `owner` and is not itself in the graph; `owner` outlives it.
  void set_owner(Node* owner) { owner_ = owner; }
  std::mutex& mutex() { return mutex_; }
  // The name that a composite gave to its last node, a text that stays valid for ever, or null.
  const char* label() const { return label_; }
  void set_label(const char* label) { label_ = label; }
  // The hooks and metadata that programs attached to the node, or null; make_extras() is in exec/node_hooks.h.
  NodeExtras* extras() const { return extras_.get(); }
  void set_extras(NodeExtras* extras) { extras_.reset(extras); }

 protected:
  void release_self() override;  // iterative: see Note [Freeing a graph]
  uint64_t sequence_nr_;

 private:
  std::vector<Edge> next_edges_;
  std::vector<GradMeta> input_metas_;
  exec::Place place_{kCPU};
  std::vector<Hook> hooks_;
  Node* owner_ = nullptr;
  const char* label_ = nullptr;
  std::mutex mutex_;
  struct ExtrasDeleter {
    void operator()(NodeExtras* extras) const;
  };
  std::unique_ptr<NodeExtras, ExtrasDeleter> extras_;
};

}  // namespace autograd

namespace autograd {
// How a view was made, which says whether it may become part of a graph later.
enum class CreationMeta : uint8_t { DEFAULT, IN_CUSTOM_FUNCTION, MULTI_OUTPUT_NODE, NO_GRAD_MODE, INFERENCE_MODE };
}  // namespace autograd

class AutogradMeta : public SmallObject {  // made by autograd_meta(); guarded by `mutex` where threads share a tensor
 public:
  bool requires_grad = false;  // of a leaf
  uint32_t output_nr = 0;
  intrusive_ptr<autograd::Node> grad_fn;
  autograd::Node* grad_accumulator = nullptr;  // weak: the accumulator owns the tensor, see autograd/accumulate.cpp
  Tensor& grad() { return retained_grad ? *retained_grad : leaf_grad; }
  Tensor leaf_grad;
  std::shared_ptr<Tensor> retained_grad;  // after retain_grad(); its hook has a weak pointer
  unsigned retain_handle = 0;
  std::vector<autograd::Node::Hook> leaf_hooks;
  // Note [Views in the graph]
  // A view made by an op knows its base.  When the shared storage's version has moved past `view_version`, the view's
  // grad_fn is stale and is made again from the base's (gradient_edge in autograd/views.cpp).
  Tensor base;
  uint32_t view_version = 0;
  autograd::CreationMeta creation = autograd::CreationMeta::DEFAULT;  // any other never follows the base's history
  std::mutex mutex;

  // LibTorch's functions, for programs that ask how a view was made.
  bool has_bw_view() const { return base.defined(); }
  autograd::CreationMeta get_creation_meta() const { return creation; }
};

// The meta of `t`, made if missing.
AutogradMeta& autograd_meta(const Tensor& t);
inline AutogradMeta* autograd_meta_or_null(const Tensor& t) { return t.impl().autograd.get(); }

// Where the gradient of `t` goes: its grad_fn, its accumulator (a leaf that requires grad), or nowhere.
autograd::Edge gradient_edge(const Tensor& t);

// Notes that `view` is a view of `base` (or of what `base` is a view of).
void mark_view(const Tensor& view, const Tensor& base);
// Throws GradError about a view made in a mode that records nothing; `happened` says what was done to it.
[[noreturn]] void throw_unrecorded_view(const char* op, autograd::CreationMeta creation, const char* happened);
// GradError if writing `self` in place would lose or falsify gradients.  `records`: the write becomes part of the
// graph.
void check_inplace(const char* op, const Tensor& self, bool records);

namespace autograd {

// GradError naming the op that wrote last, if a tensor saved by `node` is no longer at the version it was saved at.
void check_saved_version(const Tensor& saved, uint32_t expected, const Node& node);

// For an in-place op: makes `node` the history of `self`, through its base if it is a view.
void rebase_history(const Tensor& self, intrusive_ptr<Node> node);

}  // namespace autograd

// ---- the node of an op

namespace autograd {

// The interface of a backward pass that computes the gradients of some tensors alone.  A node that it runs asks it
// through is_needed() which gradients to compute.
class WantedEdges {
 public:
  // Whether the gradient along `edge` leads to one of these tensors; true for an edge that the pass does not know.
  virtual bool wants(const Edge& edge) const = 0;

  // While it exists, nodes that this thread runs ask `wanted`; with null they compute every gradient.
  class Scope {
   public:
    explicit Scope(const WantedEdges* wanted);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const WantedEdges* const before_;
  };

 protected:
  ~WantedEdges() = default;
};

// Whether to compute the gradient along `edge`: it leads to a node, and the pass that runs on this thread wants it.
bool is_needed(const Edge& edge);

// The node of an op is its saved arguments: GradContext<Args> below derives from it and from the arguments themselves,
// and is what gradients are written against.  Arguments that no wanted gradient reads are dropped when the op is
// recorded.
class OpNode : public Node {
 public:
  std::string name() const override;  // "MulBackward0"
  Grads apply(Grads grads) final;
  void release_variables() final;

  // For gradients.  Tensors are numbered in schema order; a list has one number per element.
  bool needs(size_t i) const { return is_needed(next_edges()[i]); }
  size_t num_tensors() const { return next_edges().size(); }
  const Dims& sizes(size_t i) const { return tensor_metas_[i].sizes; }
  const Dims& strides(size_t i) const { return tensor_metas_[i].strides; }
  int64_t offset(size_t i) const { return tensor_metas_[i].offset; }
  ScalarType dtype(size_t i) const { return tensor_metas_[i].dtype; }
  int64_t ndim(size_t i) const { return static_cast<int64_t>(sizes(i).size()); }
  const Tensor& result(size_t i = 0) const { return results_[i]; }

  // Fills in everything after the arguments were moved in.  `in_place` is the tensor that the op overwrites, if any.
  void record(const OpInfo& op, std::span<Tensor> outs, const Tensor* in_place);

  // ---- For programs that inspect a graph.
  const OpInfo& op() const { return *op_; }
  virtual const void* arguments() const = 0;  // the Args of the op; tensors that are not kept are undefined
  virtual void tensors(TensorSlots& out) = 0;
  const ArgumentMeta* argument_meta(size_t i) const { return i < tensor_metas_.size() ? &tensor_metas_[i] : nullptr; }
  bool was_released() const { return released_; }
  // Tensor `number` among the arguments or the results: whether it is kept, and the tensor itself, with its history.
  // GradError if the graph was freed or the tensor written since.
  bool keeps(uint32_t number, bool result) const;
  Tensor kept(uint32_t number, bool result);
  // Packs this saved tensor by the hooks.  GradError if it is packed already.
  void pack_kept(uint32_t number, bool result, std::shared_ptr<SavedTensorHooks> hooks);

 protected:
  virtual Grads gradient(const Grads& grads) = 0;
  // NotImplementedError if a needed gradient is one of OpInfo::unimplemented_gradients.
  void check_implemented();

 private:
  // What hooks packed instead of keeping it: the argument or result of this number.
  struct Packed {
    uint32_t number;
    bool result;
    PackedTensor tensor;
  };
  void pack(Packed packed);
  void keep(uint32_t i, TensorSlot& slot, const std::shared_ptr<SavedTensorHooks>& hooks);
  void keep_results(std::span<Tensor> outs, const std::shared_ptr<SavedTensorHooks>& hooks);
  void check_released() const;
  void check_versions();
  void unpack(TensorSlots& slots);
  void attach_history(uint32_t i, Tensor& t);

  const OpInfo* op_ = nullptr;
  bool released_ = false;
  std::vector<ArgumentMeta> tensor_metas_;                  // only if the gradient asks for sizes or dtypes
  std::vector<std::pair<uint32_t, uint32_t>> versions_;     // saved tensor -> version of its storage when saved
  std::vector<std::pair<Tensor, uint32_t>> saved_results_;  // detached, so that no result owns the node it owns
  std::unique_ptr<std::vector<Packed>> packed_;             // null without hooks
  std::vector<Tensor> results_;                             // with history, while the gradient runs
};

}  // namespace autograd

template <class Args>
class GradContext : public autograd::OpNode, public Args {
 public:
  explicit GradContext(Args&& args) : Args(std::move(args)) {}
  const void* arguments() const final { return static_cast<const Args*>(this); }
  void tensors(TensorSlots& out) final {
    Args::each_tensor([&](Tensor& t, int argument) { out.push_back({&t, argument}); });
  }
};

}  // namespace argand
