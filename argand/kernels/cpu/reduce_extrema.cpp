// Largest, smallest, any, all.
#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/reduce_loops.h"

namespace argand::cpu {

bool reduce_extrema(const ReduceCall& call, const ReduceLayout& layout, const ReduceSource& source) {
  constexpr DtypeSet kOrdered = kFloatTypes | dtype_bit(kLong);
  switch (call.kind) {
    case ReduceKind::kMax:
      dispatch<kOrdered>(call.type, "max",
                         [&](auto tag) { reduce_with<MaxOp<typename decltype(tag)::type>>(call, layout, source); });
      return true;
    case ReduceKind::kMin:
      dispatch<kOrdered>(call.type, "min",
                         [&](auto tag) { reduce_with<MinOp<typename decltype(tag)::type>>(call, layout, source); });
      return true;
    case ReduceKind::kAny:
      reduce_with<AnyOp>(call, layout, source);
      return true;
    case ReduceKind::kAll:
      reduce_with<AllOp>(call, layout, source);
      return true;
    default:
      return false;
  }
}

}  // namespace argand::cpu
