#include "argand/kernels/cpu/reduce.h"

#include <cmath>

#include "argand/base/error.h"
#include "argand/core/dispatch.h"
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

namespace {

void reduce_values(const ReduceCall& call, const ReduceLayout& layout) {
  const bool through_bool =
      call.kind == ReduceKind::kAny || call.kind == ReduceKind::kAll || call.kind == ReduceKind::kCount;
  const bool is_direct = call.in_type == call.type && (!through_bool || call.type == kBool);
  const ReduceSource source{call.in_type, call.type, element_size(call.in_type), through_bool, is_direct};
  const bool known =
      reduce_sums(call, layout, source) || reduce_extrema(call, layout, source) || reduce_norms(call, layout, source);
  ARGAND_ASSERT(known, "no reduction of kind ", static_cast<int>(call.kind), " on ", call.type);
}

template <class T, class F>
void for_each_value(void* values, int64_t n, F f) {
  T* v = static_cast<T*>(values);
  for (int64_t i = 0; i < n; ++i) v[i] = f(v[i], i);
}

void finish_values(const ReduceCall& call, void* values, int64_t n) {
  if (call.finish == ReduceFinish::kNone) return;
  if (call.finish == ReduceFinish::kDivide)
    return dispatch<kFloatTypes | kComplexTypes>(call.type, "mean", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto number = static_cast<decltype(std::real(T()))>(call.number);
      for_each_value<T>(values, n, [&](T v, int64_t) { return v / number; });
    });
  dispatch<kFloatTypes>(call.type, "reduction", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T number = static_cast<T>(call.number);
    const T* center = static_cast<const T*>(call.center);
    switch (call.finish) {
      case ReduceFinish::kDivideSqrt:
        return for_each_value<T>(values, n, [&](T v, int64_t) { return std::sqrt(v / number); });
      case ReduceFinish::kSqrt:
        return for_each_value<T>(values, n, [&](T v, int64_t) { return std::sqrt(v); });
      case ReduceFinish::kPower:
        return for_each_value<T>(values, n, [&](T v, int64_t) { return std::pow(v, number); });
      case ReduceFinish::kLogPlusCenter:
        return for_each_value<T>(values, n, [&](T v, int64_t i) { return std::log(v) + center[i]; });
      case ReduceFinish::kZeroIfInfinite:
        return for_each_value<T>(values, n, [&](T v, int64_t) { return std::isinf(v) ? T(0) : v; });
      default:
        return;
    }
  });
}

}  // namespace

void reduce(const ReduceCall& call, const ReduceLayout& layout) {
  const int64_t n = layout.kept_numel;
  if (n == 0) return;
  if (call.out_type == ScalarType::Undefined || call.out_type == call.type) {
    reduce_values(call, layout);
    return finish_values(call, call.out, n);
  }
  ScratchBuffer<char, 1024> values(n * element_size(call.type));
  ReduceCall wide = call;
  wide.out = values.data();
  reduce_values(wide, layout);
  finish_values(call, values.data(), n);
  convert_elements(values.data(), call.type, call.out, call.out_type, n);
}

}  // namespace argand::cpu
