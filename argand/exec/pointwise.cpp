#include "argand/exec/pointwise.h"

namespace argand::exec {

// ---- dtypes

static int kind_of(ScalarType t) {
  if (t == kBool) return 0;
  if (is_integral(t)) return 1;
  return is_floating_point(t) ? 2 : 3;
}

// Only the kind of a wrapped number counts: a float literal is a float of the default dtype, not a float64.
static ScalarType number_type(ScalarType t) {
  if (t == kDouble) return get_default_dtype();
  if (t == kComplexDouble) return to_complex_type(get_default_dtype());
  return t;
}

ScalarType result_type(std::span<const Tensor* const> operands) {
  ScalarType dims = ScalarType::Undefined, zero = ScalarType::Undefined, wrapped = ScalarType::Undefined;
  for (const Tensor* t : operands) {
    const TensorImpl& impl = t->impl();
    if (impl.wrapped_number)
      wrapped = promote_types(wrapped, number_type(impl.dtype));
    else if (impl.sizes.empty())
      zero = promote_types(zero, impl.dtype);
    else
      dims = promote_types(dims, impl.dtype);
  }
  const auto combine = [](ScalarType strong, ScalarType weak) {
    if (strong == ScalarType::Undefined) return weak;
    if (weak == ScalarType::Undefined || kind_of(strong) >= kind_of(weak)) return strong;
    // A float becomes a complex number of the same precision.
    if (is_complex(weak) && is_floating_point(strong)) return to_complex_type(strong);
    return promote_types(strong, weak);
  };
  return combine(combine(dims, zero), wrapped);
}

PointwiseTypes pointwise_types(Promote rule, std::span<const Tensor* const> operands) {
  if (rule == Promote::kSkipFirst) operands = operands.subspan(1);
  if (rule == Promote::kFirst) operands = operands.first(1);
  ScalarType common = operands[0]->dtype();
  for (const Tensor* t : operands) {
    if (t->dtype() != common || t->impl().wrapped_number) {
      common = result_type(operands);
      break;
    }
  }
  switch (rule) {
    case Promote::kFloat:
      if (is_integral(common, true)) common = get_default_dtype();
      return {compute_type(common), common};
    case Promote::kCompare:
      return {compute_type(common), kBool};
    case Promote::kLogical:
      return {kBool, kBool};
    case Promote::kReal:
      return {compute_type(common), to_real_type(common)};
    case Promote::kRealFloat:
      if (is_integral(common, true)) common = get_default_dtype();
      return {compute_type(common), to_real_type(common)};
    case Promote::kComplex:
      return {to_complex_type(common), to_complex_type(common)};
    case Promote::kCompareFloat:
      return {is_integral(common, true) ? kDouble : compute_type(common), kBool};
    default:
      return {compute_type(common), common};
  }
}

// ---- shapes

// Whether a contiguous result lies in memory as `t` does.  From four dimensions on, strides of dimensions of size 1 say
// whether channels are last.
static bool is_in_order(const TensorImpl& t) {
  return t.contiguous && (t.sizes.size() < 4 || t.strides == contiguous_strides(t.sizes));
}

TensorMeta pointwise_meta(const OpInfo& op, std::span<const Tensor* const> operands, ScalarType dtype) {
  const TensorImpl& first = operands[0]->impl();
  bool same = true, contiguous = first.contiguous;
  for (const Tensor* t : operands.subspan(1)) {
    same &= t->impl().sizes == first.sizes;
    contiguous &= t->impl().contiguous;
  }
  TensorMeta meta{first.sizes, dtype};
  if (same && contiguous && is_in_order(first)) return meta;
  for (const Tensor* t : operands.subspan(1)) meta.sizes = broadcast_shapes(meta.sizes, t->sizes(), op.name);
  // The first operand that has the result's shape sets the order of dimensions.
  for (const Tensor* t : operands) {
    if (!(t->impl().sizes == meta.sizes)) continue;
    if (!is_in_order(t->impl())) meta.strides = strides_like(meta.sizes, t->strides());
    break;
  }
  return meta;
}

}  // namespace argand::exec
