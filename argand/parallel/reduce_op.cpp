#include "argand/parallel/reduce_op.h"

#include "argand/base/error.h"
#include "argand/ops/functions.h"

namespace argand::parallel {

const char* name_of(CollectiveReduce kind) {
  static constexpr const char* kNames[] = {"SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM"};
  return kNames[static_cast<size_t>(kind)];
}

void check_dtype(const char* call, ReduceOp op, ScalarType dtype) {
  const bool bits =
      op.kind == CollectiveReduce::kBand || op.kind == CollectiveReduce::kBor || op.kind == CollectiveReduce::kBxor;
  const bool scales = op.kind == CollectiveReduce::kAvg || op.kind == CollectiveReduce::kPremulSum;
  const bool orders = op.kind == CollectiveReduce::kMin || op.kind == CollectiveReduce::kMax;
  const bool integral = is_integral(dtype, true);
  ARGAND_CHECK(DtypeError, !bits || integral, call, ": ReduceOp.", name_of(op.kind), " expects integers or bool, got ",
               dtype);
  ARGAND_CHECK(DtypeError, !scales || !integral, call, ": ReduceOp.", name_of(op.kind),
               " expects floating-point or complex numbers, got ", dtype);
  ARGAND_CHECK(DtypeError, !orders || !is_complex(dtype), call, ": ReduceOp.", name_of(op.kind),
               " expects real numbers, got ", dtype);
}

namespace {

void join_two(CollectiveReduce kind, Tensor out, const Tensor& a, const Tensor& b) {
  switch (kind) {
    case CollectiveReduce::kSum:
    case CollectiveReduce::kAvg:
    case CollectiveReduce::kPremulSum:
      add_out(out, a, b);
      return;
    case CollectiveReduce::kProduct:
      mul_out(out, a, b);
      return;
    case CollectiveReduce::kMin:
      minimum_out(out, a, b);
      return;
    case CollectiveReduce::kMax:
      maximum_out(out, a, b);
      return;
    case CollectiveReduce::kBand:
      bitwise_and_out(out, a, b);
      return;
    case CollectiveReduce::kBor:
      bitwise_or_out(out, a, b);
      return;
    case CollectiveReduce::kBxor:
      bitwise_xor_out(out, a, b);
      return;
  }
  ARGAND_THROW(InternalError, "no such reduction");
}

}  // namespace

void join_in_order(const ReduceOp& op, const std::vector<Tensor>& parts, const Tensor& out) {
  const ScalarType dtype = out.dtype();
  const ScalarType sums_in = dtype == kHalf || dtype == kBFloat16 ? kFloat : dtype;
  const auto part = [&](size_t i) {
    const Tensor t = parts[i].to(sums_in);
    return op.kind == CollectiveReduce::kPremulSum ? mul(t, op.factor) : t;
  };
  // Sums grow in `out` itself, unless it is a part that is still to be added.
  bool in_place = sums_in == dtype && parts.size() > 1;
  for (size_t i = 2; i < parts.size(); ++i) in_place = in_place && !parts[i].is_alias_of(out);
  Tensor sum = in_place ? out : part(0).clone();
  for (size_t i = 1; i < parts.size(); ++i) join_two(op.kind, sum, i == 1 ? part(0) : sum, part(i));
  if (op.kind == CollectiveReduce::kAvg) sum.div_(static_cast<int64_t>(parts.size()));
  if (!in_place) Tensor(out).copy_(sum);
  out.impl().data();  // computed now
}

}  // namespace argand::parallel
