#include "argand/exec/graph.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <new>
#include <unordered_map>

#include "argand/base/fork_mutex.h"
#include "argand/base/lock_stripes.h"
#include "argand/exec/dispatch_hooks.h"
#include "argand/exec/forward_mode.h"
#include "argand/exec/invoke.h"
#include "argand/exec/node_hooks.h"
#include "argand/exec/node_names.h"
#include "argand/exec/not_implemented.h"
#include "argand/exec/transform_scope.h"

namespace argand {

// ---- autograd's data of a tensor

void AutogradMetaDeleter::operator()(AutogradMeta* meta) const { delete meta; }
TensorImpl::~TensorImpl() {
  if (front_object) [[unlikely]]
    exec::DispatchHooks::interceptor.load(std::memory_order_acquire)->forget(front_object);
  if (exec::TransformScope::count.load(std::memory_order_relaxed)) [[unlikely]]
    exec::note_gone(this);
  if (exec::ForwardLevel::count.load(std::memory_order_relaxed)) [[unlikely]]
    exec::forget_tangents(this);
}

uint32_t TensorImpl::VersionCounter::current_version() const {
  ARGAND_CHECK(GradError, !of_.inference, "Inference tensors do not track version counter.");
  return of_.storage->version();
}

void TensorImpl::bump_version() const {
  ARGAND_CHECK(GradError, !inference || InferenceMode::is_enabled(),
               "Inplace update to inference tensor outside InferenceMode is not allowed.");
  storage->bump_version("bump_version");
}

AutogradMeta& autograd_meta(const Tensor& t) {
  auto& meta = t.impl().autograd;
  if (!meta) meta.reset(new AutogradMeta);
  return *meta;
}

void mark_view(const Tensor& view, const Tensor& of) {
  AutogradMeta& meta = autograd_meta(view);
  const AutogradMeta* parent = autograd_meta_or_null(of);
  meta.base = parent && parent->base.defined() ? parent->base : of;
  meta.view_version = view._version();
  if (exec::ForwardLevel::count.load(std::memory_order_relaxed)) [[unlikely]]
    exec::note_forward_view(view, of);
  using autograd::CreationMeta;
  if (parent && parent->creation != CreationMeta::DEFAULT)
    meta.creation = parent->creation;
  else if (InferenceMode::is_enabled())
    meta.creation = CreationMeta::INFERENCE_MODE;
  else if (!GradMode::is_enabled())
    meta.creation = CreationMeta::NO_GRAD_MODE;
}

namespace {

[[noreturn]] void throw_unrecorded(const char* op, const std::string& view, autograd::CreationMeta creation,
                                   const char* happened) {
  const bool inference = creation == autograd::CreationMeta::INFERENCE_MODE;
  const char* const mode = inference ? "inference" : "no_grad";
  ARGAND_THROW(GradError, op, ": ", view, " created in ", mode, " mode and ", happened, " modified inplace ",
               inference ? "in normal mode" : "with grad mode enabled",
               ". It is unclear whether the write should be recorded: move both the view and the write either inside "
               "the ",
               inference ? "inference_mode" : mode, " block (it is not recorded) or outside (it is).");
}

}  // namespace

void throw_unrecorded_view(const char* op, autograd::CreationMeta creation, const char* happened) {
  throw_unrecorded(op, "A view was", creation, happened);
}

void check_inplace(const char* op, const Tensor& self, bool records) {
  ARGAND_CHECK(GradError, !self.is_inference() || InferenceMode::is_enabled() || !records, op,
               ": Inplace update to inference tensor outside InferenceMode is not allowed.");
  if (!GradMode::is_enabled() || exec::DispatchHooks::below_autograd()) return;
  const AutogradMeta* meta = autograd_meta_or_null(self);
  if (!meta) return;
  ARGAND_CHECK(GradError, !(meta->requires_grad && self.is_leaf()), op,
               ": a leaf Variable that requires grad is being used in an in-place operation.");
  if (!meta->base.defined()) return;
  if (meta->creation != autograd::CreationMeta::DEFAULT && (records || meta->base.requires_grad())) {
    autograd::check_view_has_derivative(*meta);
    autograd::check_not_of_function(op, *meta, "is being");
    if (meta->grad_fn)  // it was made where ops are recorded, of a view that was not
      throw_unrecorded(op,
                       str("Output ", meta->output_nr, " of ", meta->grad_fn->name(), " is a view of a view that was"),
                       meta->creation, "is being");
    throw_unrecorded_view(op, meta->creation, "is being");
  }
  ARGAND_CHECK(GradError, !(meta->base.requires_grad() && meta->base.is_leaf()), op,
               ": a view of a leaf Variable that requires grad is being used in an in-place operation.");
}

namespace autograd {

// ---- Node

static std::atomic<uint64_t> next_node{0};

uint64_t next_sequence_nr() { return next_node.load(std::memory_order_relaxed); }

Node::Node() {
  sequence_nr_ = next_node.fetch_add(1, std::memory_order_relaxed);
  if (NodeWatch* const watch = NodeWatch::current.load(std::memory_order_acquire)) [[unlikely]]
    watch->made(*this, running_node());
}

std::atomic<NodeWatch*> NodeWatch::current{nullptr};

Node*& running_node() {
  static thread_local Node* node = nullptr;
  return node;
}

uint32_t Node::add_input(const Tensor& forward_result) {
  input_metas_.emplace_back(forward_result);
  const Device& device = input_metas_.back().device;
  if (device.is_accelerator() && place_.device.is_cpu()) {
    place_.device = device;
    if (StorageImpl::side_streams.load(std::memory_order_relaxed)) place_ = exec::Place(device);
  }
  return static_cast<uint32_t>(input_metas_.size() - 1);
}

Tensor Node::with_history(const Tensor& result, uint32_t nr) {
  if (owner_) return owner_->with_history(result, nr);
  Tensor t = exec::alias_with_tangents(result);
  AutogradMeta& meta = autograd_meta(t);
  meta.grad_fn = intrusive_ptr<Node>(this);
  meta.output_nr = nr;
  return t;
}

namespace {
// Hooks are seldom added or removed, so a few locks serve all nodes.  The node's own lock is not used, because it is
// held while its gradient runs.
std::mutex& hooks_lock(const Node* node) {
  static auto& locks = *new LockStripes;
  return locks.of(node);
}
}  // namespace

void Node::add_hook(Hook hook) {
  const std::lock_guard lock(hooks_lock(this));
  const auto at = std::find_if(hooks_.begin(), hooks_.end(), [](const Hook& h) { return h.retains; });
  hooks_.insert(hook.retains ? hooks_.end() : at, std::move(hook));
}

std::optional<Node::Hook> Node::take_hook(unsigned handle) {
  const std::lock_guard lock(hooks_lock(this));
  const auto at = std::find_if(hooks_.begin(), hooks_.end(), [handle](const Hook& h) { return h.handle == handle; });
  if (at == hooks_.end()) return std::nullopt;
  std::optional<Hook> hook(std::move(*at));
  hooks_.erase(at);
  return hook;
}

void Node::ExtrasDeleter::operator()(NodeExtras* extras) const { delete extras; }

NodeExtras& make_extras(Node& node) {
  const std::lock_guard lock(hooks_lock(&node));
  if (!node.extras()) node.set_extras(new NodeExtras);
  return *node.extras();
}

void edit_extras(Node& node, const std::function<void(NodeExtras&)>& edit) {
  NodeExtras& extras = make_extras(node);
  const std::lock_guard lock(hooks_lock(&node));
  edit(extras);
}

HooksBefore hooks_before(const Node& node) {
  HooksBefore out;
  const std::lock_guard lock(hooks_lock(&node));
  out.of_tensors = node.hooks();
  if (const NodeExtras* const extras = node.extras()) {
    out.of_node = extras->before;
    out.any_after = !extras->after.empty();
  }
  return out;
}

std::vector<NodeExtras::After> hooks_after(const Node& node) {
  const std::lock_guard lock(hooks_lock(&node));
  return node.extras() ? node.extras()->after : std::vector<NodeExtras::After>();
}

// Note [Freeing a graph]
// Deleting a node drops its edges and saved tensors, which may be the last owners of the nodes before it, and so on for
// as many steps as the graph is deep.  Nodes that die while another is being deleted are queued and deleted by the
// outermost call, so the stack stays flat.
void Node::release_self() {
  thread_local std::vector<Node*>* queue = nullptr;
  if (queue) {
    try {
      return queue->push_back(this);
    } catch (const std::bad_alloc&) {  // the stack has room
    }
    delete this;
    return;
  }
  std::vector<Node*> dying;
  queue = &dying;
  delete this;
  while (!dying.empty()) {
    Node* node = dying.back();
    dying.pop_back();
    delete node;
  }
  queue = nullptr;
}

// ---- OpNode

void label_node(const Tensor& t, const char* name, uint64_t since) {
  const AutogradMeta* const meta = t.defined() ? autograd_meta_or_null(t) : nullptr;
  if (!meta || !meta->grad_fn || meta->grad_fn->sequence_nr() < since) return;
  meta->grad_fn->set_label(name);
}

std::string traced_name(const Node& node) {
  std::string name = node.name();
  for (const char* const of : {"Add", "Sub", "Mul"})
    if (name == str(of, "Backward1")) name.back() = '0';
  return name;
}

std::string class_name(const Node& node) {
  std::string name = traced_name(node);
  if (name.find('<') != std::string::npos) return "CppFunction";
  const size_t at = name.rfind("::");
  return at == std::string::npos ? name : name.substr(at + 2);
}

std::string node_name_of(std::string_view op) {
  std::string out;
  bool upper = true;
  for (const char c : op) {
    if (c == '_' || c == '.') {
      upper = true;
      continue;
    }
    out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = std::isdigit(static_cast<unsigned char>(c)) != 0;  // "Log1P"
  }
  return out + "Backward0";
}

std::string OpNode::name() const {
  if (label()) return label();
  if (op_->naming)
    if (const char* const own = op_->naming->name(arguments(), this)) return own;
  return node_name_of(std::string_view(op_->name));
}

void OpNode::pack(Packed packed) {
  if (!packed_) packed_ = std::make_unique<std::vector<Packed>>();
  packed_->push_back(std::move(packed));
}

void OpNode::keep(uint32_t i, TensorSlot& slot, const std::shared_ptr<SavedTensorHooks>& hooks) {
  Tensor& t = *slot.tensor;
  ARGAND_CHECK(GradError, !t.is_inference(), op_->name,
               ": Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal "
               "tensor and use it in autograd.");
  if (hooks && !t.impl().wrapped_number) {
    pack({i, false, PackedTensor(hooks, t)});
    t = Tensor();
    return;
  }
  versions_.emplace_back(i, t._version());
  // Saved without its history, which next_edges() has: the tensor may be written in place later, and its history then
  // lead
  // to this node, which would own itself.  This cannot happen to a leaf that requires grad.
  const bool leaf = next_edges()[i].is_valid() && t.is_leaf();
  if (!leaf && !t.impl().wrapped_number) t = exec::alias_with_tangents(t);
}

void OpNode::keep_results(std::span<Tensor> outs, const std::shared_ptr<SavedTensorHooks>& hooks) {
  for (uint32_t i = 0; i < outs.size(); ++i) {
    saved_results_.emplace_back();
    if (!(op_->saved_results >> i & 1)) continue;
    if (hooks)
      pack({i, true, PackedTensor(hooks, outs[i])});
    else
      saved_results_.back() = {exec::alias_with_tangents(outs[i]), outs[i]._version()};
  }
}

void OpNode::record(const OpInfo& op, std::span<Tensor> outs, const Tensor* in_place) {
  op_ = &op;
  TensorSlots slots;
  tensors(slots);
  next_edges().reserve(slots.size());
  if (op.saves_metas) tensor_metas_.reserve(slots.size());
  uint32_t read = 0;  // by the gradients that are wanted; what the others read may be written in place
  for (const TensorSlot& s : slots) {
    const bool defined = s.tensor->defined();
    next_edges().push_back(defined ? gradient_edge(*s.tensor) : Edge{});
    if (next_edges().back().is_valid()) read |= op.gradient_reads[s.argument];
    if (op.saves_metas) tensor_metas_.push_back(defined ? ArgumentMeta(*s.tensor) : ArgumentMeta());
  }
  // This comes after the edges: for a view of `in_place`, an edge made before the bump leads to what the op read, one
  // made after it to what it wrote.
  if (in_place) in_place->storage()->bump_version(op.name);
  const auto& hooks = SavedTensorHooks::current();
  for (uint32_t i = 0; i < slots.size(); ++i) {
    Tensor& t = *slots[i].tensor;
    if (!t.defined()) continue;
    if (read >> slots[i].argument & 1)
      keep(i, slots[i], hooks);
    else if (!t.impl().wrapped_number)  // of which name() may ask
      t = Tensor();
  }
  for (Tensor& out : outs) add_input(out);
  if (op.saved_results) keep_results(outs, hooks);
  if (in_place) return rebase_history(*in_place, intrusive_ptr<Node>(this));
  uint32_t nr = 0;
  for (Tensor& out : outs) {
    if (is_differentiable(out.dtype()) && !(op.constant_results >> nr & 1)) {
      AutogradMeta& meta = autograd_meta(out);
      meta.grad_fn = intrusive_ptr<Node>(this);
      meta.output_nr = nr;
    }
    ++nr;
  }
}

void check_saved_version(const Tensor& saved, uint32_t expected, const Node& node) {
  ARGAND_CHECK(
      GradError, saved._version() == expected,
      "one of the variables needed for gradient computation has been modified by an inplace operation: a tensor of ",
      saved.dtype(), " and shape ", saved.sizes(), ", saved by ", node.name(), ", is at version ", saved._version(),
      "; expected version ", expected, " instead. The op that changed it last is '", saved.storage()->last_writer(),
      "'.");
}

void OpNode::check_released() const {
  ARGAND_CHECK(
      GradError, !released_,
      "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
      "been freed) at ",
      name(),
      ". Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
      "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
      "saved tensors after calling backward.");
}

void OpNode::check_versions() {
  check_released();
  TensorSlots slots;
  tensors(slots);
  for (const auto& [i, version] : versions_) check_saved_version(*slots[i].tensor, version, *this);
  for (const auto& [t, version] : saved_results_)
    if (t.defined()) check_saved_version(t, version, *this);
}

void OpNode::unpack(TensorSlots& slots) {
  for (const Packed& p : *packed_) (p.result ? results_[p.number] : *slots[p.number].tensor) = p.tensor.unpack();
}

// For double backward, a saved tensor gets its history again.
void OpNode::attach_history(uint32_t i, Tensor& t) {
  const Edge& edge = next_edges()[i];
  if (!edge.is_valid() || autograd_meta_or_null(t) || exec::is_tangent_edge(edge)) return;
  t = exec::alias_with_tangents(t);
  AutogradMeta& meta = autograd_meta(t);
  meta.grad_fn = edge.function;
  meta.output_nr = edge.input_nr;
}

static thread_local constinit const WantedEdges* wanted_edges __attribute__((tls_model("initial-exec"))) = nullptr;

WantedEdges::Scope::Scope(const WantedEdges* wanted) : before_(std::exchange(wanted_edges, wanted)) {}
WantedEdges::Scope::~Scope() { wanted_edges = before_; }

bool is_needed(const Edge& edge) { return edge.is_valid() && (!wanted_edges || wanted_edges->wants(edge)); }

Grads OpNode::apply(Grads grads) {
  const ObjectLock lock(mutex());  // threads may run backward through a shared part of a graph
  check_versions();
  TensorSlots slots;
  tensors(slots);
  // Only while the gradient runs; afterwards the node must not own tensors whose history leads to it.
  struct Restore {
    std::vector<Tensor>& results;
    TensorSlots& slots;
    std::vector<Tensor> saved;
    ~Restore() {
      results.clear();
      for (size_t i = 0; i < saved.size(); ++i) *slots[i].tensor = std::move(saved[i]);
    }
  } restore{results_, slots, {}};
  const bool with_grad = GradMode::is_enabled() && !versions_.empty();
  if (with_grad || packed_)
    for (const TensorSlot& s : slots) restore.saved.push_back(*s.tensor);
  results_.clear();  // a child of fork() finds what a thread of its parent had there
  for (const auto& [t, version] : saved_results_) results_.push_back(t);
  if (packed_) unpack(slots);
  if (GradMode::is_enabled()) {
    for (const auto& [i, version] : versions_) attach_history(i, *slots[i].tensor);
    if (packed_)
      for (const Packed& p : *packed_)
        if (!p.result) attach_history(p.number, *slots[p.number].tensor);
    for (uint32_t nr = 0; nr < results_.size(); ++nr) {
      Tensor& t = results_[nr];
      if (t.defined() && is_differentiable(t.dtype()) && !(op_->constant_results >> nr & 1)) t = with_history(t, nr);
    }
  }
  Grads out = gradient(grads);
  ARGAND_ASSERT(out.size() == next_edges().size(), op_->name, ": its gradient returned ", out.size(), " tensors for ",
                next_edges().size(), " arguments");
  return out;
}

void OpNode::check_implemented() {
  TensorSlots slots;
  tensors(slots);
  for (size_t i = 0; i < slots.size(); ++i)
    if (op_->unimplemented_gradients >> i & 1 && needs(i))
      ARGAND_THROW(NotImplementedError, op_->name, ": the derivative with respect to argument '",
                   op_->signature.arguments[static_cast<size_t>(slots[i].argument)].name, "' is not implemented");
}

bool OpNode::keeps(uint32_t number, bool result) const {
  if (packed_)
    for (const Packed& p : *packed_)
      if (p.number == number && p.result == result) return true;
  if (result) return number < saved_results_.size() && saved_results_[number].first.defined();
  return std::any_of(versions_.begin(), versions_.end(), [&](const auto& v) { return v.first == number; });
}

Tensor OpNode::kept(uint32_t number, bool result) {
  const ObjectLock lock(mutex());
  check_released();
  Tensor t;
  if (packed_)
    for (const Packed& p : *packed_)
      if (p.number == number && p.result == result) t = p.tensor.unpack();
  TensorSlots slots;
  tensors(slots);
  const bool packed = t.defined();
  if (!packed) {
    for (const auto& [i, version] : versions_)
      if (!result && i == number) check_saved_version(t = *slots[i].tensor, version, *this);
    if (result && number < saved_results_.size() && saved_results_[number].first.defined())
      check_saved_version(t = saved_results_[number].first, saved_results_[number].second, *this);
  }
  if (!t.defined() || !is_differentiable(t.dtype())) return t;
  if (!result)
    attach_history(number, t);
  else if (!(op_->constant_results >> number & 1))
    t = with_history(t, number);
  return t;
}

void OpNode::pack_kept(uint32_t number, bool result, std::shared_ptr<SavedTensorHooks> hooks) {
  const ObjectLock lock(mutex());
  ARGAND_CHECK(GradError, !released_, "Calling register_hooks on a saved tensor after it has been freed. ",
               "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
               "retain_graph=True if you need to backward through the graph a second time or if you need to access "
               "saved variables after calling backward.");
  if (packed_)
    for (const Packed& p : *packed_)
      ARGAND_CHECK(GradError, p.number != number || p.result != result,
                   "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair "
                   "of hooks is allowed at a time.");
  TensorSlots slots;
  tensors(slots);
  Tensor& of = result ? saved_results_[number].first : *slots[number].tensor;
  ARGAND_CHECK(GradError, of.defined(), "Calling register_hooks on a saved tensor with value None is forbidden");
  pack({number, result, PackedTensor(std::move(hooks), of)});
  of = Tensor();
  if (!result) std::erase_if(versions_, [&](const auto& v) { return v.first == number; });
}

void OpNode::release_variables() {
  const ObjectLock lock(mutex());
  released_ = !versions_.empty() || !saved_results_.empty() || packed_;
  TensorSlots slots;
  tensors(slots);
  for (const TensorSlot& s : slots) *s.tensor = Tensor();
  versions_.clear();
  saved_results_.clear();
  packed_.reset();
}

}  // namespace autograd
}  // namespace argand
