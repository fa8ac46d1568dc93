// Sums and extrema of functions of the elements.
#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/reduce_loops.h"

namespace argand::cpu {
namespace {

template <template <class> class Op>
bool reduce_floats(const ReduceCall& call, const ReduceLayout& layout, const ReduceSource& source) {
  dispatch<kFloatTypes>(call.type, "norm",
                        [&](auto tag) { reduce_with<Op<typename decltype(tag)::type>>(call, layout, source); });
  return true;
}

}  // namespace

bool reduce_norms(const ReduceCall& call, const ReduceLayout& layout, const ReduceSource& source) {
  switch (call.kind) {
    case ReduceKind::kSumAbs:
      return reduce_floats<SumAbsOp>(call, layout, source);
    case ReduceKind::kSumSquares:
      return reduce_floats<SumSquaresOp>(call, layout, source);
    case ReduceKind::kMaxAbs:
      return reduce_floats<MaxAbsOp>(call, layout, source);
    case ReduceKind::kMinAbs:
      return reduce_floats<MinAbsOp>(call, layout, source);
    case ReduceKind::kSumPowers:
      return reduce_floats<SumPowersOp>(call, layout, source);
    case ReduceKind::kCenteredSquares:
      return reduce_floats<CenteredSquaresOp>(call, layout, source);
    case ReduceKind::kCenteredExp:
      return reduce_floats<CenteredExpOp>(call, layout, source);
    default:
      return false;
  }
}

}  // namespace argand::cpu
