// Everything an op definition needs.  Included only by the .cpp files that define ops.
//
// A definition is one struct that derives from a kind and ends with ARGAND_OP(Name):
//
//   struct Mul : Pointwise<MulArgs> {
//     static constexpr auto schema = "mul(Tensor self, Tensor|Scalar other) -> Tensor";
//     static constexpr auto doc = "...";
//     ARGAND_BODY((x, y), x * y)
//     static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * c.other.conj(); }
//     static Tensor grad_other(const Ctx& c, const Tensor& g) { return g * c.self.conj(); }
//     static void samples(S& s) { s.add({s->real({2, 3}), s->real({3})}); }
//   };
//   ARGAND_OP(Mul)
//
// MulArgs is generated from the schema (tools/generate).  Members by kind:
//   all          schema, doc;
//                optional: variants, dtypes, autocast (and autocast_cpu, where PyTorch's lists for the CPU differ),
//                differentiable, constant_arguments, constant_results, unimplemented_gradients, number_arguments,
//                samples(S&);
//                out_is_exact, out_may_be_bytes, out_may_be_any, out_is_counted, out_keeps_shape, out_names,
//                out_chooses_dtype and without_out, which say what out= may be (CONTRIBUTING.md);
//                python_defaults, python_numbers, python_tensor_numbers, python_one_by_one, python_sublists,
//                python_old_orders and not_python_methods, which say where Python's calls are others than C++'s
//                (CONTRIBUTING.md); transform, of Fourier transforms: the words that refuse complex tensors, or ""
//   Pointwise    ARGAND_BODY, compute, promote;
//                or form(const Args&) -> const PointwiseInfo&, which chooses among bodies that stand in nested structs
//                of kind Pointwise<Args>, as form_of<Nested>; such an op may have Tensor? operands;
//                optional: check(const Args&), which throws what the user did wrong; scalars(const Args&, Scalar*) and
//                num_scalars, if the body's scalars are not simply the numbers among the arguments
//   Kernel       infer(const Args&) -> TensorMeta or TensorMetas;
//                run(const Args&, Tensor& out | std::span<Tensor> outs), written in building blocks that each device
//                implements (kernels/blocks.h), or cpu(...) of the same form, whose results a GPU gets back; optional:
//                starts_from_self, writes_strided, crosses_devices, writes_one_value
//   View         view(const Args&) -> ViewLayout; has NAME_copy as well, as has what names kCopy among its variants;
//                optional: copies_first, if it copies before it views because not every layout has the view
//   Composite    compose(const Args&) -> what the schema returns
// Gradients: grad_<argument>(c, g) for each differentiable tensor argument, or grad(c, g) -> Grads for all at once. `g`
// is the gradient of the result (of all results, some undefined, as Grads, if there are several).  A gradient need not
// be summed to the argument's shape or cast to its dtype: the engine does that.  What a gradient reads must stand in it
// as c.NAME, c.result(), c.result(1), c.sizes(i) or c.dtype(i): the generator keeps for the graph exactly what it finds
// there.
#pragma once
#include "argand/exec/copy.h"
#include "argand/exec/graph.h"
#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/ops/pointwise_loops.h"
#include "argand/ops/samples.h"

namespace argand::ops {

// Forms a call may take; the generator reads them from the definition's text.
inline constexpr int kFunction = 1, kMethod = 2, kInplace = 4, kOut = 8, kCopy = 16;

template <class... I>
constexpr uint32_t bits(I... numbers) {
  return ((uint32_t{1} << numbers) | ...);
}

template <class A>
struct OpBase : A::Index {
  using Args = A;
  using Ctx = GradContext<A>;
  using S = Samples<A>;
  using Result = typename A::Result;
  static constexpr auto doc = "";
  static constexpr Autocast autocast = Autocast::kNone;
  static constexpr bool differentiable = true;
  // Floating-point arguments without gradient, as bits(kWeight): GradError if one requires grad; and results, by
  // number.
  static constexpr uint32_t constant_arguments = 0, constant_results = 0;
  // Tensor arguments whose gradient is not implemented, as bits(kSelf): NotImplementedError in a backward pass that
  // needs one.
  static constexpr uint32_t unimplemented_gradients = 0;
  // 0-dim tensors that are read before anything is written, as bits(kValue).
  static constexpr uint32_t number_arguments = 0;
  static constexpr bool starts_from_self = false;
  static constexpr bool writes_strided = false;
  static constexpr bool crosses_devices = false;
  static constexpr bool writes_one_value = false;
  static constexpr const char* transform = nullptr;
  static constexpr bool out_is_exact = false, out_may_be_bytes = false, out_may_be_any = false, out_is_counted = false;
  static constexpr const char* out_names = nullptr;
  static constexpr DtypeSet dtypes = kAllTypes;
};
template <class A>
struct Pointwise : OpBase<A> {
  static constexpr OpKind kind = OpKind::kPointwise;
  static constexpr Promote promote = Promote::kDefault;
  // The types the body makes sense for: see compute_type().
  static constexpr DtypeSet compute = kFloatTypes | kComplexTypes | kBoolType | dtype_bit(kLong);
};
template <class A>
struct Kernel : OpBase<A> {
  static constexpr OpKind kind = OpKind::kKernel;
};
template <class A>
struct View : OpBase<A> {
  static constexpr OpKind kind = OpKind::kView;
};
template <class A>
struct Composite : OpBase<A> {
  static constexpr OpKind kind = OpKind::kComposite;
};

// Sets of compute types for pointwise bodies.
inline constexpr DtypeSet kFloatBody = kFloatTypes;  // real floating point only
inline constexpr DtypeSet kFloatComplexBody = kFloatTypes | kComplexTypes;
inline constexpr DtypeSet kIntBody = dtype_bit(kLong);
inline constexpr DtypeSet kRealBody = kFloatTypes | dtype_bit(kLong);
inline constexpr DtypeSet kRealBoolBody = kRealBody | kBoolType;

// The result of `form`.
template <class Form>
inline constexpr const PointwiseInfo& form_of = detail::kPointwiseInfo<Form>;

// ---- from a definition to its OpInfo

namespace detail {

template <class Op>
concept HasGrad = requires(const typename Op::Ctx& c, const Tensor& g) {
  Op::grad(c, g);
}
|| requires(const typename Op::Ctx& c, const Grads& g) { Op::grad(c, g); };

template <class Op>
constexpr bool kHasGradient = HasGrad<Op> || Op::Args::template kArgumentGrads<Op> != 0;

template <class Op>
class Node final : public GradContext<typename Op::Args> {
 public:
  using GradContext<typename Op::Args>::GradContext;

 private:
  Grads gradient(const Grads& grads) override {
    using Ctx = typename Op::Ctx;
    const Ctx& c = *this;
    if constexpr (Op::unimplemented_gradients != 0) this->check_implemented();
    if constexpr (requires(const Grads& g) { Op::grad(c, g); } && Op::Args::kNumOutputs != 1) {
      return Op::grad(c, grads);
    } else if constexpr (requires(const Tensor& g) { Op::grad(c, g); }) {
      return Op::grad(c, grads[0]);
    } else if constexpr (Op::Args::template kArgumentGrads<Op> != 0) {
      Grads out(this->num_tensors());
      if constexpr (Op::Args::kNumOutputs == 1)
        Op::Args::template call_gradients<Op>(c, grads[0], out);
      else
        Op::Args::template call_gradients<Op>(c, grads, out);
      return out;
    } else {
      ARGAND_THROW(NotImplementedError, Op::Args::kName, ": the gradient of this op is not implemented");
    }
  }
};

template <class Op>
intrusive_ptr<autograd::OpNode> make_node(void* args) {
  return intrusive_ptr<autograd::OpNode>(new Node<Op>(std::move(*static_cast<typename Op::Args*>(args))));
}
template <class Args>
void tensors(void* args, TensorSlots& out) {
  static_cast<Args*>(args)->each_tensor([&](Tensor& t, int argument) { out.push_back({&t, argument}); });
}
template <class Op>
void scalars(const void* args, Scalar* out) {
  const auto& a = *static_cast<const typename Op::Args*>(args);
  if constexpr (requires { Op::scalars(a, out); })
    Op::scalars(a, out);
  else
    a.each_scalar([&](const Scalar& s) { *out++ = s; });
}
template <class Op>
void check(const void* args) {
  Op::check(*static_cast<const typename Op::Args*>(args));
}
template <class Op>
const PointwiseInfo& form(const void* args) {
  return Op::form(*static_cast<const typename Op::Args*>(args));
}
template <class Args>
void values(const void* args, ArgumentValues& out) {
  static_cast<const Args*>(args)->collect_values(out);
}
template <class Args>
TensorOptions* options(void* args) {
  if constexpr (requires(Args & a) { TensorOptions(a.options); })
    return &static_cast<Args*>(args)->options;
  else
    return nullptr;
}
template <class Op>
void infer(const void* args, TensorMetas& out) {
  const auto& a = *static_cast<const typename Op::Args*>(args);
  if constexpr (std::is_same_v<decltype(Op::infer(a)), TensorMeta>)
    out.push_back(Op::infer(a));
  else
    out = Op::infer(a);
}
template <class Op>
ViewLayout view(const void* args) {
  return Op::view(*static_cast<const typename Op::Args*>(args));
}
template <class Op>
constexpr bool kRunsAnywhere = requires {
  &Op::run;
};
template <class Op>
void kernel(const void* args, std::span<Tensor> outs) {
  const auto& a = *static_cast<const typename Op::Args*>(args);
  if constexpr (requires { Op::run(a, outs[0]); })
    Op::run(a, outs[0]);
  else if constexpr (requires { Op::run(a, outs); })
    Op::run(a, outs);
  else if constexpr (requires { Op::cpu(a, outs[0]); })
    Op::cpu(a, outs[0]);
  else
    Op::cpu(a, outs);
}
template <class Op>
void compose(const void* args, void* result) {
  *static_cast<typename Op::Args::Result*>(result) = Op::compose(*static_cast<const typename Op::Args*>(args));
}
inline void collect(Tensor t, std::vector<Tensor>& out) { out.push_back(std::move(t)); }
inline void collect(const std::vector<Tensor>& list, std::vector<Tensor>& out) {
  out.insert(out.end(), list.begin(), list.end());
}
inline void collect(const Scalar& number, std::vector<Tensor>& out) { out.push_back(exec::wrapped_number(number)); }
template <class... T>
void collect(const std::tuple<T...>& all, std::vector<Tensor>& out) {
  std::apply([&](const T&... each) { (collect(each, out), ...); }, all);
}
template <class Op>
void compose_tensors(const void* args, std::vector<Tensor>& out) {
  collect(Op::compose(*static_cast<const typename Op::Args*>(args)), out);
}
template <class Op>
void samples(SampleSink& sink) {
  typename Op::S s(sink);
  if constexpr (requires { Op::samples(s); }) Op::samples(s);
}

template <class Op>
constexpr Autocast autocast_on_cpu() {
  if constexpr (requires { Op::autocast_cpu; })
    return Op::autocast_cpu;
  else
    return Op::autocast;
}

template <class Op>
constexpr OpInfo make_info() {
  using Args = typename Op::Args;
  OpInfo info{};
  info.name = Args::kName;
  info.schema = Op::schema;
  info.signature = {Args::kOverload, Args::kArguments, Args::kResults};
  info.doc = Op::doc;
  info.kind = Op::kind;
  info.autocast = Op::autocast;
  info.autocast_cpu = autocast_on_cpu<Op>();
  info.differentiable = Op::differentiable;
  info.starts_from_self = Op::starts_from_self;
  info.writes_strided = Op::writes_strided;
  info.crosses_devices = Op::crosses_devices;
  info.writes_one_value = Op::writes_one_value;
  info.transform = Op::transform;
  info.out = {Op::out_is_exact, Op::out_may_be_bytes, Op::out_may_be_any, Op::out_is_counted, Op::out_names};
  info.inplace_only = Args::kInplaceOnly;
  info.has_inplace = Args::kHasInplace;
  info.has_out = Args::kHasOut;
  info.random = Args::kRandom;
  info.num_outputs = Args::kNumOutputs;
  info.required_tensors = Args::kRequiredTensors;
  info.gradient_reads = Args::kGradientReads;
  info.saved_results = Args::kSavedResults;
  info.saves_metas = Args::kSavesMetas;
  info.constant_arguments = Op::constant_arguments;
  info.number_arguments = Op::number_arguments;
  info.constant_results = Op::constant_results;
  info.unimplemented_gradients = Op::unimplemented_gradients;
  info.dtypes = Op::dtypes;
  info.args = {tensors<Args>, scalars<Op>, values<Args>, options<Args>};
  if constexpr (requires(const Args& a) { Op::check(a); }) info.check = check<Op>;
  info.make_node = make_node<Op>;
  info.samples = samples<Op>;
  if constexpr (Op::kind == OpKind::kPointwise) {
    if constexpr (requires(const Args& a) { Op::form(a); })
      info.form = form<Op>;
    else
      info.pointwise = &detail::kPointwiseInfo<Op>;
  }
  if constexpr (Op::kind == OpKind::kKernel) {
    info.infer = infer<Op>;
    info.kernel = kernel<Op>;
    info.runs_anywhere = kRunsAnywhere<Op>;
  }
  if constexpr (Op::kind == OpKind::kView) info.view = view<Op>;
  if constexpr (Op::kind == OpKind::kComposite) {
    info.compose = compose<Op>;
    info.compose_tensors = compose_tensors<Op>;
  }
  return info;
}

}  // namespace detail
}  // namespace argand::ops

#define ARGAND_OP(Name) constinit OpInfo Name##_info = detail::make_info<Name>();
