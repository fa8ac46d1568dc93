// Sums and products.
#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/reduce_loops.h"

namespace argand::cpu {

bool reduce_sums(const ReduceCall& call, const ReduceLayout& layout, const ReduceSource& source) {
  constexpr DtypeSet kSums = kFloatTypes | kComplexTypes | dtype_bit(kLong);
  switch (call.kind) {
    case ReduceKind::kSum:
    case ReduceKind::kCount:
      dispatch<kSums>(call.type, "sum",
                      [&](auto tag) { reduce_with<SumOp<typename decltype(tag)::type>>(call, layout, source); });
      return true;
    case ReduceKind::kNanSum:
      dispatch<kFloatTypes>(call.type, "nansum", [&](auto tag) {
        reduce_with<NanSumOp<typename decltype(tag)::type>>(call, layout, source);
      });
      return true;
    case ReduceKind::kProd:
      dispatch<kSums>(call.type, "prod",
                      [&](auto tag) { reduce_with<ProdOp<typename decltype(tag)::type>>(call, layout, source); });
      return true;
    default:
      return false;
  }
}

}  // namespace argand::cpu
