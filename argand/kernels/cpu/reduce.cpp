#include "argand/kernels/cpu/reduce.h"

#include "argand/base/error.h"
#include "argand/kernels/cpu/gather.h"
#include "argand/kernels/cpu/reduce_loops.h"
#include "argand/kernels/cpu/tile.h"

namespace argand::cpu {

void fetch_elements(const ReduceSource& source, const char* from, int64_t stride, int64_t n, void* to) {
  alignas(64) char raw[kReduceBlock * 16], flags[kReduceBlock];
  const void* at = from;
  if (stride != 1) {
    gather(from, {n}, {stride}, source.item_size, 0, n, source.is_direct ? to : raw);
    at = raw;
  }
  if (source.is_direct) return;
  if (source.through_bool && source.wanted != kBool) {
    convert_elements(at, source.type, flags, kBool, n);
    convert_elements(flags, kBool, to, source.wanted, n);
  } else {
    convert_elements(at, source.type, to, source.wanted, n);
  }
}

void reduce(const ReduceCall& call, const ReduceLayout& layout) {
  if (layout.kept_numel == 0) return;
  const bool through_bool =
      call.kind == ReduceKind::kAny || call.kind == ReduceKind::kAll || call.kind == ReduceKind::kCount;
  const bool is_direct = call.in_type == call.type && (!through_bool || call.type == kBool);
  const ReduceSource source{call.in_type, call.type, element_size(call.in_type), through_bool, is_direct};
  const bool known =
      reduce_sums(call, layout, source) || reduce_extrema(call, layout, source) || reduce_norms(call, layout, source);
  ARGAND_ASSERT(known, "no reduction of kind ", static_cast<int>(call.kind), " on ", call.type);
}

}  // namespace argand::cpu
