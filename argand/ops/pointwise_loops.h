// From a pointwise body to the loops that run it: one per compute type, and for float32 and float64 one per vector
// unit.
//
// A body is an expression over its operands that is written once: the CPU loops below, the CUDA kernel and the fuser's
// text are made from it.  The loop variants are the same code compiled for wider vectors; contraction is off, so their
// bits
// agree.
#pragma once
#include <array>
#include <utility>

#include "argand/exec/op_info.h"
#include "argand/kernels/cpu/multiversion.h"
#include "argand/kernels/math.h"

// The body of a pointwise op: ARGAND_BODY((x, y), x * y).  Operands come first, then scalar attributes; all have the
// compute type T, which the expression may name.  An op whose body kernels know says so (`body_kind`), and one that
// calls functions of a header beside kernels/math.h names it (`math_header`); see PointwiseBody.
#define ARGAND_UNPAREN(...) __VA_ARGS__
#define ARGAND_AUTO_PARAMS_1(a) T a
#define ARGAND_AUTO_PARAMS_2(a, b) T a, T b
#define ARGAND_AUTO_PARAMS_3(a, b, c) T a, T b, T c
#define ARGAND_AUTO_PARAMS_4(a, b, c, d) T a, T b, T c, T d
#define ARGAND_AUTO_PARAMS_5(a, b, c, d, e) T a, T b, T c, T d, T e
#define ARGAND_AUTO_PARAMS_6(a, b, c, d, e, f) T a, T b, T c, T d, T e, T f
#define ARGAND_PICK(_1, _2, _3, _4, _5, _6, N, ...) ARGAND_AUTO_PARAMS_##N
#define ARGAND_AUTO_PARAMS(...) ARGAND_PICK(__VA_ARGS__, 6, 5, 4, 3, 2, 1)(__VA_ARGS__)
#define ARGAND_BODY(params, ...)                           \
  static constexpr const char* body_text = #__VA_ARGS__;   \
  static constexpr const char* body_params = #params;      \
  template <class T>                                       \
  ARGAND_INLINE static T body(ARGAND_AUTO_PARAMS params) { \
    using namespace ::argand::math;                        \
    return static_cast<T>(__VA_ARGS__);                    \
  }

namespace argand::ops::detail {

// The operands and scalars of a body: those of the arguments, unless the body defines others.
template <class Op>
constexpr int num_inputs() {
  if constexpr (requires { Op::num_inputs; })
    return Op::num_inputs;
  else
    return Op::Args::kNumTensors;
}
template <class Op>
constexpr int num_scalars() {
  if constexpr (requires { Op::num_scalars; })
    return Op::num_scalars;
  else
    return Op::Args::kNumScalars;
}

template <class Op>
constexpr BodyKind body_kind() {
  if constexpr (requires { Op::body_kind; })
    return Op::body_kind;
  else
    return BodyKind::kOther;
}
template <class Op>
constexpr const char* math_header() {
  if constexpr (requires { Op::math_header; })
    return Op::math_header;
  else
    return nullptr;
}

template <class Op, class T, size_t... In, size_t... Attr>
ARGAND_INLINE void run_loop(void* out, [[maybe_unused]] const void* const* ins, [[maybe_unused]] const void* params,
                            int64_t n, std::index_sequence<In...>, std::index_sequence<Attr...>) {
  [[maybe_unused]] const std::array<const T*, sizeof...(In) + 1> in{static_cast<const T*>(ins[In])..., nullptr};
  [[maybe_unused]] const std::array<T, sizeof...(Attr) + 1> attr{static_cast<const T*>(params)[Attr]..., T{}};
  T* to = static_cast<T*>(out);
  ARGAND_VECTORIZE
  for (int64_t i = 0; i < n; ++i) to[i] = Op::template body<T>(in[In][i]..., attr[Attr]...);
}

template <class Op, class T>
struct Loop {
  ARGAND_INLINE static void run(void* out, const void* const* ins, const void* params, int64_t n) {
    run_loop<Op, T>(out, ins, params, n, std::make_index_sequence<num_inputs<Op>()>(),
                    std::make_index_sequence<num_scalars<Op>()>());
  }
};

template <class Op, class T>
void loop(void* out, const void* const* ins, const void* params, int64_t n) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    cpu::on_vector_unit<Loop<Op, T>>(out, ins, params, n);
  else
    Loop<Op, T>::run(out, ins, params, n);
}

template <class Op, ScalarType kType>
constexpr cpu::LoopFn loop_or_null() {
  if constexpr (contains(Op::compute, kType))
    return loop<Op, typename cpp_type<kType>::type>;
  else
    return nullptr;
}

template <class Op>
inline constexpr PointwiseInfo kPointwiseInfo = {
    {num_inputs<Op>(),
     num_scalars<Op>(),
     Op::Args::kName,
     Op::body_params,
     Op::body_text,
     {loop_or_null<Op, kFloat>(), loop_or_null<Op, kDouble>(), loop_or_null<Op, kLong>(), loop_or_null<Op, kBool>(),
      loop_or_null<Op, kComplexFloat>(), loop_or_null<Op, kComplexDouble>()},
     body_kind<Op>(),
     math_header<Op>()},
    Op::promote};

}  // namespace argand::ops::detail
