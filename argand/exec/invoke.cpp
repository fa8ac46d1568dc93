#include "argand/exec/invoke.h"

#include <algorithm>
#include <cstring>

#include "argand/base/log.h"
#include "argand/exec/autocast_scope.h"
#include "argand/exec/bytes_read.h"
#include "argand/exec/check_out.h"
#include "argand/exec/copy.h"
#include "argand/exec/fallback.h"
#include "argand/exec/forward_mode.h"
#include "argand/exec/graph.h"
#include "argand/exec/invoke_parts.h"
#include "argand/exec/node_names.h"
#include "argand/exec/offer.h"
#include "argand/exec/out_dtype.h"
#include "argand/exec/overlap.h"
#include "argand/exec/pointwise.h"
#include "argand/exec/profiler.h"
#include "argand/exec/transform_scope.h"
#include "argand/kernels/blocks.h"
#include "argand/runtime/backend.h"
#include "argand/runtime/current_op.h"

namespace argand::exec {

// ---- tensors

namespace {

// The number of elements in memory from the first to the last one; with gaps or overlaps it differs from the number of
// elements of the tensor.
int64_t span_of(IntArrayRef sizes, IntArrayRef strides) {
  if (numel_of(sizes) == 0) return 0;
  int64_t span = 1, reach;
  for (size_t i = 0; i < sizes.size(); ++i)
    ARGAND_CHECK(
        ShapeError,
        !__builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) && !__builtin_add_overflow(span, reach, &span),
        "Storage size calculation overflowed with sizes=", sizes, " and strides=", strides);
  return span;
}

Tensor new_tensor_from(const TensorMeta& meta, Allocator& allocator) {
  const int64_t elements = meta.strides.empty() ? numel_of(meta.sizes) : span_of(meta.sizes, meta.strides);
  int64_t nbytes;
  ARGAND_CHECK(ShapeError, !__builtin_mul_overflow(elements, element_size(meta.dtype), &nbytes),
               "Storage size calculation overflowed: a tensor of shape ", meta.sizes, " and dtype ", meta.dtype,
               " does not fit the address space");
  auto storage = make_intrusive<StorageImpl>(static_cast<size_t>(nbytes), allocator);
  Dims strides = meta.strides.empty() && !meta.sizes.empty() ? contiguous_strides(meta.sizes) : meta.strides;
  auto impl = make_intrusive<TensorImpl>(std::move(storage), meta.sizes, std::move(strides), 0, meta.dtype);
  impl->inference = InferenceMode::is_enabled();
  Tensor made(std::move(impl));
  if (TransformScope::active()) [[unlikely]]
    note_made(made);
  return made;
}

// All results of calls with pin_memory=true are made here, for every op.
Tensor new_pinned_tensor(const OpInfo& op, const TensorMeta& meta, const Device& device) {
  ARGAND_CHECK(DeviceError, device.is_cpu(), op.name,
               ": only dense CPU tensors can be pinned, got pin_memory=True for a tensor on ", device);
  return new_tensor_from(meta, accelerator().pinned_allocator());
}

}  // namespace

Tensor new_tensor(const TensorMeta& meta, const Device& device) { return new_tensor_from(meta, allocator_for(device)); }

// Always makes a new tensor, for views; alias() below may return the same tensor.
static Tensor layout_of(const Tensor& t, Dims sizes, Dims strides, int64_t offset, std::optional<ScalarType> dtype) {
  numel_of(sizes);  // throws for what no tensor has: every view is made here
  auto impl =
      make_intrusive<TensorImpl>(t.storage(), std::move(sizes), std::move(strides), offset, dtype.value_or(t.dtype()));
  impl->inference = t.is_inference();
  Tensor made(std::move(impl));
  if (TransformScope::active()) [[unlikely]]
    note_alias(made, t);
  return made;
}

Tensor alias(const Tensor& t, Dims sizes, Dims strides, int64_t offset, std::optional<ScalarType> dtype) {
  Tensor out = layout_of(t, std::move(sizes), std::move(strides), offset, dtype);
  if (DispatchHooks::intercepts(t.impl()) && (DispatchHooks::state & DispatchHooks::kOff) == 0) [[unlikely]] {
    const TensorImpl &a = out.impl(), &b = t.impl();
    if (a.sizes == b.sizes && a.strides == b.strides && a.offset == b.offset && a.dtype == b.dtype)
      DispatchHooks::interceptor.load(std::memory_order_acquire)->share(out, t);
  }
  return out;
}

Tensor wrapped_number(const Scalar& value) {
  Tensor t = new_tensor({Dims{}, value.type()}, kCPU);
  t.impl().wrapped_number = true;
  dispatch<dtype_bit(kBool) | dtype_bit(kLong) | dtype_bit(kDouble) | dtype_bit(kComplexDouble)>(
      value.type(), "scalar", [&](auto tag) {
        using T = typename decltype(tag)::type;
        *raw<T>(t) = value.to<T>();
      });
  return t;
}

namespace {

// ---- checks common to all ops

// One device for all; a 0-dim CPU tensor may join any.
Device common_device(const OpInfo& op, TensorSlots& slots) {
  const Tensor* lead = nullptr;
  for (const TensorSlot& s : slots) {
    if (!s.tensor->defined()) continue;
    if (!lead || (lead->dim() == 0 && lead->is_cpu() && !(lead->device() == s.tensor->device()))) lead = s.tensor;
  }
  if (!lead) return kCPU;
  const Device device = lead->device();
  if (op.crosses_devices) return device;
  for (const TensorSlot& s : slots) {
    if (!s.tensor->defined() || s.tensor->device() == device || (s.tensor->dim() == 0 && s.tensor->is_cpu())) continue;
    ARGAND_THROW(DeviceError, op.name,
                 ": Expected all tensors to be on the same device, but found at least two devices, ", device, " and ",
                 s.tensor->device(), "!");
  }
  return device;
}

[[noreturn]] void throw_undefined(const OpInfo& op, const void* args, int argument) {
  ArgumentValues values;
  op.args.values(args, values);
  ARGAND_THROW(ValueError, op.name, ": expected a tensor, got an undefined one for argument '",
               values[static_cast<size_t>(argument)].first, '\'');
}

}  // namespace

// An undefined tensor has a dim() and sizes() (argand/core/tensor.h), so later code would not notice it.
void check_defined(const OpInfo& op, const void* args, TensorSlots& slots) {
  for (const TensorSlot& s : slots)
    if (!s.tensor->defined() && (op.required_tensors >> s.argument & 1)) throw_undefined(op, args, s.argument);
}

namespace {

// The end of an error, in PyTorch's words, about a dtype that a floating-point op does not take; empty for other ops.
std::string about_dtype(const OpInfo& op, ScalarType t) {
  const bool takes_complex = contains(op.dtypes, kComplexDouble);
  if (!contains(op.dtypes, kDouble)) return "";
  if (is_integral(t, true))
    return takes_complex ? str(": Expected a floating point or complex tensor as input. Got ", dtype_cpp_name(t)) : "";
  if (is_complex(t)) return op.transform ? str(": ", op.transform, ' ', dtype_cpp_name(t)) : "";
  return str(op.transform ? ": Unsupported dtype " : ": Low precision dtypes not supported. Got ", dtype_cpp_name(t));
}

void check_dtype(const OpInfo& op, TensorSlots& slots) {
  if (slots.size() == 0 || !slots[0].tensor->defined()) return;
  const ScalarType t = slots[0].tensor->dtype();
  ARGAND_CHECK(DtypeError, contains(op.dtypes, t), op.name, ": not implemented for dtype ", t, about_dtype(op, t));
}

[[noreturn]] void throw_constant_requires_grad(const OpInfo& op, const void* args, int argument) {
  ArgumentValues values;
  op.args.values(args, values);
  ARGAND_THROW(GradError, op.name, ": not differentiable with respect to argument '",
               values[static_cast<size_t>(argument)].first, "', which cannot have requires_grad=True");
}

}  // namespace

bool any_requires_grad(const OpInfo& op, const void* args, TensorSlots& slots) {
  if (!GradMode::is_enabled() || !op.differentiable || DispatchHooks::below_autograd()) return false;
  // Results of tensors made in InferenceMode are not recorded, even if the tensors require grad.
  bool any = false, any_normal = false;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].tensor->defined()) continue;
    any_normal |= !slots[i].tensor->is_inference();
    if (!slots[i].tensor->requires_grad()) continue;
    if (op.constant_arguments >> i & 1) throw_constant_requires_grad(op, args, slots[i].argument);
    any = true;
    if (any_normal && !op.constant_arguments) break;
  }
  return any && any_normal;
}

namespace {

// ---- submitting

// A GPU kernel reads only memory of that GPU: while this lives, 0-dim CPU tensors among the arguments are replaced by
// copies there.
class NumbersOnDevice {
 public:
  NumbersOnDevice(const OpInfo& op, const Device& device, TensorSlots& slots) {
    if (device.is_cpu() || op.crosses_devices) return;
    for (const TensorSlot& s : slots) {
      if (!s.tensor->defined() || !s.tensor->is_cpu() || s.tensor->dim() > 0) continue;
      given_.emplace_back(s.tensor, *s.tensor);
      const Tensor copy = new_tensor({s.tensor->impl().sizes, s.tensor->dtype()}, device);
      copy_elements(copy, *s.tensor);
      *s.tensor = copy;
    }
  }
  ~NumbersOnDevice() {
    for (auto& [slot, tensor] : given_) *slot = std::move(tensor);
  }
  NumbersOnDevice(const NumbersOnDevice&) = delete;
  NumbersOnDevice& operator=(const NumbersOnDevice&) = delete;

 private:
  std::vector<std::pair<Tensor*, Tensor>> given_;
};

void check_slots(TensorSlots& slots, std::span<Tensor> outs) {
  check_bytes_read(
      [&](const auto& visit) {
        for (const TensorSlot& s : slots) visit(*s.tensor);
        for (const Tensor& out : outs) visit(out);
      },
      outs);
}

void start_kernel(const OpInfo& op, const Device& device, void* args, TensorSlots& slots, std::span<Tensor> outs) {
  const NoGradGuard no_grad;
  const CurrentOp current(op.name, outs);
  const DeviceScope on_device(device);
  const NumbersOnDevice numbers(op, device, slots);
  std::string missing;
  if (device.is_cpu() || op.runs_anywhere) {
    try {
      return op.kernel(args, outs);
    } catch (const NotOnDevice& e) {
      missing = e.what();
    }
  }
  run_on_cpu(op, args, outs, missing);
}

void run_kernel(const OpInfo& op, const Device& device, void* args, TensorSlots& slots, std::span<Tensor> outs) {
  if (device.is_meta()) return;
  start_kernel(op, device, args, slots, outs);
  check_slots(slots, outs);
}

struct PointwisePlan {
  const PointwiseInfo* info = nullptr;
  const Tensor* operands[kMaxInputs];
  int num_operands = 0;
  PointwiseTypes types;
  TensorMeta meta;
  std::span<const Tensor* const> inputs() const { return {operands, static_cast<size_t>(num_operands)}; }
};

// Comparisons use the common dtype of the operands: in float32, in which float16 and bfloat16 compute, a number would
// differ from its rounded value.
void round_what_is_compared(const PointwisePlan& plan, TensorSlots& slots) {
  if (plan.info->promote != Promote::kCompare || plan.num_operands < 2) return;
  const auto is_half = [](ScalarType t) { return t == kHalf || t == kBFloat16; };
  if (std::none_of(slots.begin(), slots.end(), [&](const TensorSlot& s) { return is_half(s.tensor->dtype()); })) return;
  const ScalarType common = result_type(plan.inputs());
  if (!is_half(common)) return;
  for (const TensorSlot& s : slots) {
    if (s.tensor->dtype() == common) continue;
    const Tensor rounded = new_tensor({s.tensor->impl().sizes, common}, s.tensor->device());
    if (!rounded.is_meta()) copy_elements(rounded, *s.tensor);
    *s.tensor = rounded;
  }
}

void plan_pointwise(const OpInfo& op, const void* args, TensorSlots& slots, PointwisePlan& plan) {
  for (const TensorSlot& s : slots) {
    if (op.form && s.argument > 0 && !s.tensor->defined()) continue;
    ARGAND_CHECK(ValueError, s.tensor->defined(), op.name, ": expected a tensor, got an undefined one");
    plan.operands[plan.num_operands++] = s.tensor;
  }
  plan.info = op.form ? &op.form(args) : op.pointwise;
  ARGAND_CHECK(ValueError, plan.num_operands >= plan.info->num_inputs, op.name,
               ": expected a tensor, got an undefined one");
  plan.types = pointwise_types(plan.info->promote, plan.inputs());
  if (!plan.info->loops[compute_index(plan.types.compute)]) throw_unsupported_dtype(op.name, plan.types.compute);
  plan.meta = pointwise_meta(op, plan.inputs(), plan.types.result);
  round_what_is_compared(plan, slots);
}

void submit_planned(const OpInfo& op, const void* args, const PointwisePlan& plan, const Tensor& out) {
  if (out.is_meta()) return;
  PointwiseCall call{plan.info, plan.types.compute, plan.info->num_inputs, {}, {}, &out};
  std::copy(plan.operands, plan.operands + call.num_inputs, call.inputs);
  if (plan.info->num_scalars) op.args.scalars(args, call.scalars);
  submit_pointwise(call);
}

// ---- recording

}  // namespace

void record(const OpInfo& op, void* args, std::span<Tensor> outs, const Tensor* in_place) {
  auto node = op.make_node(args);
  node->record(op, outs, in_place);
  if (profiler::is_active()) [[unlikely]]
    profiler::note_sequence(node->sequence_nr());
}

namespace {

void make_view(const OpInfo& op, const void* args, const Tensor& base, Tensor& out) {
  ViewLayout v = op.view(args);
  out = layout_of(base, std::move(v.sizes), std::move(v.strides), v.offset, v.dtype);
  if (op.differentiable && !base.is_inference() && !DispatchHooks::below_autograd()) mark_view(out, base);
}

// An op that starts from `self` writes elements at positions that its other arguments determine.
void check_operands(const OpInfo& op, const Tensor& self, TensorSlots& slots) {
  const bool copies = op.kind == OpKind::kPointwise || op.crosses_devices;  // copy_ is what crosses
  if (copies || op.starts_from_self) check_overlap(op.name, self, slots, 1 | op.number_arguments, !copies);
}

// Copies the elements to new memory.  For an intercepting tensor, the op `clone` makes the copy.
Tensor copy_of(const Tensor& self) {
  if (!DispatchHooks::intercepts(self.impl()))
    return dense_clone(self, self.dtype(), strides_like(self.impl().sizes, self.impl().strides));
  const DispatchStateGuard below(DispatchHooks::kBelowAutograd);
  return self.clone();
}

// The value for a gradient that reads the overwritten argument: a copy with the present history of `self`, in the same
// memory order; a kernel that copies from one order to another would be several times slower than both.
Tensor value_before_write(const Tensor& self) {
  Tensor before = copy_of(self);
  copy_tangents(before, self);
  const autograd::Edge edge = gradient_edge(self);
  if (edge.is_valid()) {
    AutogradMeta& meta = autograd_meta(before);
    meta.grad_fn = edge.function;
    meta.output_nr = edge.input_nr;
  }
  return before;
}

}  // namespace

// A gradient must read what the op read, so arguments that share memory with `self` are copied.
void keep_values_before_write(const OpInfo& op, TensorSlots& slots, const Tensor& self) {
  uint32_t read = 0;
  for (const TensorSlot& s : slots)
    if (s.tensor->defined() && s.tensor->requires_grad()) read |= op.gradient_reads[s.argument];
  for (const TensorSlot& s : slots)
    if (s.tensor->defined() && (read >> s.argument & 1) && s.tensor->is_alias_of(self))
      *s.tensor = value_before_write(*s.tensor);
}

namespace {

bool asks_to_pin(const OpInfo& op, void* args) {
  const TensorOptions* options = op.args.options(args);
  return options && options->pinned_memory();
}

// ---- the forms of a call

void run_plain(const OpInfo& op, void* args, std::span<Tensor> outs) {
  const AutocastScope autocast(op, args);
  TensorSlots slots;
  op.args.tensors(args, slots);
  check_defined(op, args, slots);
  check_dtype(op, slots);
  const Device device = common_device(op, slots);
  const CallWithinTransforms transforms(slots);
  if (op.check) op.check(args);
  const bool records = any_requires_grad(op, args, slots);
  if (op.kind == OpKind::kPointwise) {
    PointwisePlan plan;
    plan_pointwise(op, args, slots, plan);
    outs[0] = new_tensor(plan.meta, device);
    submit_planned(op, args, plan, outs[0]);
  } else if (op.kind == OpKind::kView) {
    make_view(op, args, *slots[0].tensor, outs[0]);
  } else {
    TensorMetas metas;
    op.infer(args, metas);
    const bool pinned = asks_to_pin(op, args);
    for (size_t i = 0; i < outs.size(); ++i) {
      const Device place = metas[i].device.value_or(device);
      outs[i] = pinned && !place.is_meta() ? new_pinned_tensor(op, metas[i], place) : new_tensor(metas[i], place);
    }
    const Device where = outs.empty() ? device : outs[0].device();
    if (op.starts_from_self) copy_elements(outs[0], *slots[0].tensor);
    run_kernel(op, where, args, slots, outs);
  }
  transforms.mark(outs);
  const auto has_gradient = [](const Tensor& t) { return is_differentiable(t.dtype()); };
  if (records && std::any_of(outs.begin(), outs.end(), has_gradient)) record(op, args, outs, nullptr);
}

void run_inplace(const OpInfo& op, void* args, const Tensor& given) {
  const AutocastScope no_autocast;
  const Tensor self = given;  // the caller's handle may be inside args, which recording moves from
  TensorSlots slots;
  op.args.tensors(args, slots);
  check_defined(op, args, slots);
  check_dtype(op, slots);
  const Device device = common_device(op, slots);
  ARGAND_CHECK(DeviceError, self.device() == device || op.crosses_devices, op.name,
               "_: Expected all tensors to be on the same device, but found at least two devices, ", self.device(),
               " for the tensor that is written and ", device, "!");
  if (op.check) op.check(args);
  const bool records = any_requires_grad(op, args, slots) && is_differentiable(self.dtype());
  check_writable(op, self, records);
  check_operands(op, self, slots);
  if (TransformScope::active()) [[unlikely]]
    before_write(op, slots, self);
  const auto check_result = [&](const TensorMeta& meta) {
    ARGAND_CHECK(ShapeError, meta.sizes == self.impl().sizes, op.name, "_: output with shape ", self.sizes(),
                 " doesn't match the broadcast shape ", meta.sizes);
    ARGAND_CHECK(DtypeError, can_cast(meta.dtype, self.dtype()), op.name, "_: result type ", dtype_cpp_name(meta.dtype),
                 " can't be cast to the desired output type ", dtype_cpp_name(self.dtype()));
    ARGAND_CHECK(DtypeError, op.kind != OpKind::kPointwise || !self.is_complex() || !is_floating_point(meta.dtype),
                 op.name, "_: In-place ", op.name, " is not supported for complex tensors.");
  };
  if (records) keep_values_before_write(op, slots, self);
  if (op.kind == OpKind::kPointwise) {
    PointwisePlan plan;
    plan_pointwise(op, args, slots, plan);
    check_result(plan.meta);
    submit_planned(op, args, plan, self);
  } else {
    TensorMetas metas;
    op.infer(args, metas);
    check_result(metas[0]);
    if (op.starts_from_self && (self.is_contiguous() || op.writes_strided)) {
      Tensor out = self;
      run_kernel(op, device, args, slots, {&out, 1});
    } else {
      Tensor out = new_tensor(metas[0], device);
      if (op.starts_from_self) copy_elements(out, self);
      run_kernel(op, device, args, slots, {&out, 1});
      copy_elements(self, out);
    }
  }
  if (records) {
    Tensor out = self;
    record(op, args, {&out, 1}, &self);
  } else if (!DispatchHooks::below_autograd()) {
    self.storage()->bump_version(op.name);
  }
}

// For a composite that does not pass pin_memory on to its last op.
void pin_result(const OpInfo& op, Tensor& result) {
  if (result.is_meta() || result.is_pinned()) return;
  ARGAND_CHECK(ValueError, !result.requires_grad(), op.name,
               ": pin_memory=True is not supported for a result with a gradient; pin what detach() gives");
  const Tensor pinned = new_pinned_tensor(
      op, {result.impl().sizes, result.dtype(), strides_like(result.sizes(), result.strides())}, result.device());
  copy_elements(pinned, result);
  result = pinned;
}

// A composite rarely restricts dtypes; the ops that it calls check theirs.
void check_composite(const OpInfo& op, void* args) {
  if (op.dtypes == kAllTypes && op.required_tensors == 0) return;
  TensorSlots slots;
  op.args.tensors(args, slots);
  check_defined(op, args, slots);
  check_dtype(op, slots);
}

// Composites may read elements without a kernel, so their arguments are checked as after one.
void check_arguments(const OpInfo& op, void* args) {
  TensorSlots slots;
  op.args.tensors(args, slots);
  check_slots(slots, {});
}

// Gives the nodes of a composite's results the name that ARGAND_NODE chose for the composite, if there is one.
class CompositeName {
 public:
  CompositeName(const OpInfo& op, const void* args)
      : args_(args), naming_(GradMode::is_enabled() ? op.naming : nullptr) {
    if (naming_) since_ = autograd::next_sequence_nr();
  }
  void give(const Tensor& result) const {
    if (naming_)
      if (const char* const name = naming_->name(args_, nullptr)) autograd::label_node(result, name, since_);
  }
  void give_all(const void* result) const {
    if (naming_)
      if (const char* const name = naming_->name(args_, nullptr)) naming_->label(result, name, since_);
  }

 private:
  const void* args_;
  const autograd::NodeNaming* naming_;
  uint64_t since_ = 0;
};

// Runs the body of a composite op.  The body must ask Block::has() before it calls a block: unlike the kernel of an op
// it cannot run again on the CPU, because what it has called may have had effects.
template <class Body>
void run_body(const OpInfo& op, const Body& body) {
  try {
    body();
  } catch (const NotOnDevice& e) {
    ARGAND_THROW(NotImplementedError, op.name, ": the device of the tensors has no kernel for this call",
                 *e.what() ? ": " : "", e.what());
  }
}

std::vector<Tensor> run_named(const OpInfo& op, void* args) {
  std::vector<Tensor> results;
  if (op.kind == OpKind::kComposite) {
    const AutocastScope autocast(op, args);
    check_composite(op, args);
    const bool pinned = asks_to_pin(op, args);
    const CompositeName name(op, args);
    run_body(op, [&] { op.compose_tensors(args, results); });
    if (any_watched()) [[unlikely]]
      check_arguments(op, args);
    for (const Tensor& result : results) name.give(result);
    if (pinned)
      for (Tensor& result : results) pin_result(op, result);
  } else if (op.inplace_only) {
    TensorSlots slots;
    op.args.tensors(args, slots);
    results.push_back(*slots[0].tensor);
    run_inplace(op, args, results[0]);
  } else {
    results.resize(static_cast<size_t>(op.num_outputs));
    run_plain(op, args, results);
  }
  return results;
}

void run_out(const OpInfo& op, void* args, std::span<Tensor> outs) {
  bool writes_graph = false, reads_graph = false;
  TensorSlots slots;
  op.args.tensors(args, slots);
  if (GradMode::is_enabled() && !DispatchHooks::below_autograd()) {
    for (const Tensor& out : outs) writes_graph |= out.requires_grad();
    if (op.differentiable)
      for (const TensorSlot& s : slots) reads_graph |= s.tensor->defined() && s.tensor->requires_grad();
  }
  const NoGradGuard no_grad;
  const AutocastScope no_autocast;
  std::vector<Tensor> results = run_named(op, args);
  for (const Tensor& result : results)
    check_out_not_recorded(op, writes_graph || (reads_graph && is_differentiable(result.dtype())));
  write_outs(op, slots, results, outs);
}

}  // namespace

namespace {

bool listens() { return profiler::is_active() || DispatchHooks::tangents_travel() || DispatchHooks::listens(); }

void run_composite(const OpInfo& op, void* args, void* result) {
  const AutocastScope autocast(op, args);
  check_composite(op, args);
  const bool pinned = asks_to_pin(op, args);
  const CompositeName name(op, args);
  run_body(op, [&] { op.compose(args, result); });
  if (any_watched()) [[unlikely]]
    check_arguments(op, args);
  name.give_all(result);
  if (pinned) pin_result(op, *static_cast<Tensor*>(result));  // what is made by options is one tensor
}

}  // namespace

// Small ops are sensitive to overhead: without interceptors the call goes on directly.
void invoke(const OpInfo& op, void* args, std::span<Tensor> outs) {
  if (!listens()) [[likely]]
    return run_plain(op, args, outs);
  if (DispatchHooks::tangents_travel() && forward_plain(op, args, outs)) return;
  const profiler::Span span(op, args, profiler::Form::kPlain);
  if (DispatchHooks::listens() && offer_plain(op, args, outs)) return;
  run_plain(op, args, outs);
}

void invoke_inplace(const OpInfo& op, void* args, const Tensor& self) {
  if (!listens()) [[likely]]
    return run_inplace(op, args, self);
  if (DispatchHooks::tangents_travel() && forward_inplace(op, args, self)) return;
  const profiler::Span span(op, args, profiler::Form::kInPlace);
  if (DispatchHooks::listens() && offer_inplace(op, args, self)) return;
  run_inplace(op, args, self);
}

void invoke_out(const OpInfo& op, void* args, std::span<Tensor> outs) {
  if (DispatchHooks::tangents_travel()) [[unlikely]]
    check_forward_out(op, args, outs);
  const profiler::Span span(op, args, profiler::Form::kPlain);
  if (DispatchHooks::listens()) [[unlikely]]
    if (offer_out(op, args, outs)) return;
  run_out(op, args, outs);
}

void invoke_composite(const OpInfo& op, void* args, void* result) {
  const profiler::Span span(op, args, profiler::Form::kPlain);
  if (DispatchHooks::listens()) [[unlikely]]
    if (offer_composite(op, args, result)) return;
  run_composite(op, args, result);
}

std::vector<Tensor> call(const OpInfo& op, void* args) {
  if (DispatchHooks::tangents_travel()) [[unlikely]] {
    std::vector<Tensor> results;
    if (forward_call(op, args, results)) return results;
  }
  const profiler::Span span(op, args, op.inplace_only ? profiler::Form::kInPlace : profiler::Form::kPlain);
  if (DispatchHooks::listens()) [[unlikely]] {
    std::vector<Tensor> results;
    if (op.kind == OpKind::kComposite) {
      if (offer_composite(op, args, results)) return results;
    } else if (op.inplace_only) {
      TensorSlots slots;
      op.args.tensors(args, slots);
      results.push_back(*slots[0].tensor);
      if (offer_inplace(op, args, results[0])) return results;
    } else {
      results.resize(static_cast<size_t>(op.num_outputs));
      if (offer_plain(op, args, results)) return results;
    }
  }
  return run_named(op, args);
}

static void copy_within(const Device& device, void* to, const void* from, size_t nbytes) {
  if (device.is_cpu())
    std::memcpy(to, from, nbytes);
  else if (!device.is_meta())
    backend_of(device.type()).copy(to, device, from, device, nbytes, true);
}

void resize_output(const Tensor& out, IntArrayRef sizes, bool keep) {
  if (out.sizes() == sizes) return;
  TensorImpl& impl = out.impl();
  int64_t needed;
  ARGAND_CHECK(ShapeError,
               !__builtin_add_overflow(impl.offset, numel_of(sizes), &needed) &&
                   !__builtin_mul_overflow(needed, out.itemsize(), &needed),
               "Storage size calculation overflowed: a tensor of shape ", sizes, " and dtype ", out.dtype(),
               " does not fit the address space");
  Dims strides = contiguous_strides(sizes);
  if (static_cast<size_t>(needed) > impl.storage->nbytes())
    impl.storage->resize(static_cast<size_t>(needed), keep ? copy_within : nullptr);
  impl.sizes = sizes;
  impl.strides = std::move(strides);
  impl.refresh();
}

}  // namespace argand::exec
