// From a pointwise body to the loops that run it: one per compute type, and for float32 and float64 one per vector
// unit.
//
// A body is an expression over its operands, written once: the CPU loops below, the CUDA kernel and the fuser's text
// all come from it.  The variants are the same code compiled for wider vectors; contraction is off, so their bits
// agree.
#pragma once
#include <array>
#include <utility>

#include "argand/exec/op_info.h"
#include "argand/kernels/cpu/vector_unit.h"
#include "argand/kernels/math.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define ARGAND_TARGET_AVX2 __attribute__((target("avx2,fma,f16c,bmi,bmi2")))
#define ARGAND_AVX512_FEATURES "avx2,fma,f16c,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512cd"
#if defined(__clang__)  // has no such target option
#define ARGAND_TARGET_AVX512 __attribute__((target(ARGAND_AVX512_FEATURES)))
#else
#define ARGAND_TARGET_AVX512 __attribute__((target(ARGAND_AVX512_FEATURES ",prefer-vector-width=512")))
#endif
#define ARGAND_ISA_VARIANTS 1
#else
#define ARGAND_ISA_VARIANTS 0
#endif
#if defined(__clang__)
#define ARGAND_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define ARGAND_IVDEP _Pragma("GCC ivdep")
#endif

// The body of a pointwise op: ARGAND_BODY((x, y), x * y).  Operands come first, then scalar attributes; all have the
// compute type T, which the expression may name.
#define ARGAND_UNPAREN(...) __VA_ARGS__
#define ARGAND_AUTO_PARAMS_1(a) T a
#define ARGAND_AUTO_PARAMS_2(a, b) T a, T b
#define ARGAND_AUTO_PARAMS_3(a, b, c) T a, T b, T c
#define ARGAND_AUTO_PARAMS_4(a, b, c, d) T a, T b, T c, T d
#define ARGAND_AUTO_PARAMS_5(a, b, c, d, e) T a, T b, T c, T d, T e
#define ARGAND_AUTO_PARAMS_6(a, b, c, d, e, f) T a, T b, T c, T d, T e, T f
#define ARGAND_PICK(_1, _2, _3, _4, _5, _6, N, ...) ARGAND_AUTO_PARAMS_##N
#define ARGAND_AUTO_PARAMS(...) ARGAND_PICK(__VA_ARGS__, 6, 5, 4, 3, 2, 1)(__VA_ARGS__)
#define ARGAND_BODY(params, ...)                                           \
  static constexpr const char* body_text = #__VA_ARGS__;                   \
  static constexpr const char* body_params = #params;                      \
  template <class T>                                                       \
  [[gnu::always_inline]] static inline T body(ARGAND_AUTO_PARAMS params) { \
    using namespace ::argand::math;                                        \
    return static_cast<T>(__VA_ARGS__);                                    \
  }

namespace argand::ops::detail {

// Operands and scalars of a body: those of the arguments, unless it says otherwise.
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

template <class Op, class T, size_t... In, size_t... Attr>
[[gnu::always_inline]] inline void run_loop(void* out, [[maybe_unused]] const void* const* ins,
                                            [[maybe_unused]] const void* params, int64_t n, std::index_sequence<In...>,
                                            std::index_sequence<Attr...>) {
  [[maybe_unused]] const std::array<const T*, sizeof...(In) + 1> in{static_cast<const T*>(ins[In])..., nullptr};
  [[maybe_unused]] const std::array<T, sizeof...(Attr) + 1> attr{static_cast<const T*>(params)[Attr]..., T{}};
  T* to = static_cast<T*>(out);
  ARGAND_IVDEP
  for (int64_t i = 0; i < n; ++i) to[i] = Op::template body<T>(in[In][i]..., attr[Attr]...);
}

template <class Op, class T>
[[gnu::always_inline]] inline void loop_here(void* out, const void* const* ins, const void* params, int64_t n) {
  run_loop<Op, T>(out, ins, params, n, std::make_index_sequence<num_inputs<Op>()>(),
                  std::make_index_sequence<num_scalars<Op>()>());
}

#if ARGAND_ISA_VARIANTS
template <class Op, class T>
ARGAND_TARGET_AVX512 void loop_avx512(void* out, const void* const* ins, const void* params, int64_t n) {
  loop_here<Op, T>(out, ins, params, n);
}
template <class Op, class T>
ARGAND_TARGET_AVX2 void loop_avx2(void* out, const void* const* ins, const void* params, int64_t n) {
  loop_here<Op, T>(out, ins, params, n);
}
#endif

template <class Op, class T>
void loop(void* out, const void* const* ins, const void* params, int64_t n) {
#if ARGAND_ISA_VARIANTS
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    switch (cpu::vector_unit()) {
      case cpu::VectorUnit::kAvx512:
        return loop_avx512<Op, T>(out, ins, params, n);
      case cpu::VectorUnit::kAvx2:
        return loop_avx2<Op, T>(out, ins, params, n);
      default:
        break;
    }
  }
#endif
  loop_here<Op, T>(out, ins, params, n);
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
    num_inputs<Op>(),
    num_scalars<Op>(),
    Op::promote,
    Op::body_text,
    {loop_or_null<Op, kFloat>(), loop_or_null<Op, kDouble>(), loop_or_null<Op, kLong>(), loop_or_null<Op, kBool>(),
     loop_or_null<Op, kComplexFloat>(), loop_or_null<Op, kComplexDouble>()}};

}  // namespace argand::ops::detail
