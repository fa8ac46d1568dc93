#include "argand/parallel/reduce_op.h"

#include "argand/base/error.h"
#include "argand/ops/functions.h"

namespace argand::parallel {

const char* name_of(ReduceKind kind) {
  static constexpr const char* kNames[] = {"SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM"};
  return kNames[static_cast<size_t>(kind)];
}

void check_dtype(const char* call, ReduceOp op, ScalarType dtype) {
  const bool bits = op.kind == ReduceKind::kBand || op.kind == ReduceKind::kBor || op.kind == ReduceKind::kBxor;
  const bool scales = op.kind == ReduceKind::kAvg || op.kind == ReduceKind::kPremulSum;
  const bool orders = op.kind == ReduceKind::kMin || op.kind == ReduceKind::kMax;
  const bool integral = is_integral(dtype, true);
  ARGAND_CHECK(DtypeError, !bits || integral, call, ": ReduceOp.", name_of(op.kind), " expects integers or bool, got ",
               dtype);
  ARGAND_CHECK(DtypeError, !scales || !integral, call, ": ReduceOp.", name_of(op.kind),
               " expects floating-point or complex numbers, got ", dtype);
  ARGAND_CHECK(DtypeError, !orders || !is_complex(dtype), call, ": ReduceOp.", name_of(op.kind),
               " expects real numbers, got ", dtype);
}

namespace {

Tensor joined(ReduceKind kind, const Tensor& a, const Tensor& b) {
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kAvg:
    case ReduceKind::kPremulSum:
      return add(a, b);
    case ReduceKind::kProduct:
      return mul(a, b);
    case ReduceKind::kMin:
      return minimum(a, b);
    case ReduceKind::kMax:
      return maximum(a, b);
    case ReduceKind::kBand:
      return bitwise_and(a, b);
    case ReduceKind::kBor:
      return bitwise_or(a, b);
    case ReduceKind::kBxor:
      return bitwise_xor(a, b);
  }
  ARGAND_THROW(InternalError, "no such reduction");
}

}  // namespace

void join_in_order(const ReduceOp& op, const std::vector<Tensor>& parts, const Tensor& out) {
  const ScalarType dtype = out.dtype();
  const ScalarType sums_in = dtype == kHalf || dtype == kBFloat16 ? kFloat : dtype;
  const auto part = [&](size_t i) {
    const Tensor t = parts[i].to(sums_in);
    return op.kind == ReduceKind::kPremulSum ? mul(t, op.factor) : t;
  };
  Tensor joined_parts = part(0);
  for (size_t i = 1; i < parts.size(); ++i) joined_parts = joined(op.kind, joined_parts, part(i));
  if (op.kind == ReduceKind::kAvg) joined_parts = div(joined_parts, static_cast<int64_t>(parts.size()));
  out.copy_(joined_parts);
  out.impl().data();  // computed now
}

}  // namespace argand::parallel
