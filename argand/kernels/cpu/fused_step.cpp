#include "argand/kernels/cpu/fused_step.h"

#include <algorithm>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/multiversion.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

constexpr int64_t kGrain = 32768;

// The numbers are copied, and the loop has a copy of all of this: through references the compiler would have to read
// them anew after every store.
template <class Rule, class T>
struct StepLoop {
  using A = op_math_t<T>;
  static constexpr int kStates = Rule::kStates, kNumbers = Rule::kNumbers;

  A numbers[kNumbers];
  T* param;
  const T* grad;
  T* states[kStates + 1];  // one more than are used: arrays are not empty

  StepLoop(const double* c, const StepTensor& t)
      : param(static_cast<T*>(t.param)), grad(static_cast<const T*>(t.grad)) {
    std::transform(c, c + kNumbers, numbers, [](double x) { return static_cast<A>(x); });
    std::transform(t.states, t.states + kStates, states, [](void* p) { return static_cast<T*>(p); });
  }

  ARGAND_INLINE static void run(StepLoop l, int64_t begin, int64_t end) {
    ARGAND_VECTORIZE
    for (int64_t i = begin; i < end; ++i) {
      A x = static_cast<A>(l.param[i]), s[kStates + 1];
      for (int k = 0; k < kStates; ++k) s[k] = static_cast<A>(l.states[k][i]);
      Rule::update(l.numbers, x, static_cast<A>(l.grad[i]), s);
      for (int k = 0; k < kStates; ++k) l.states[k][i] = static_cast<T>(s[k]);
      l.param[i] = static_cast<T>(x);
    }
  }
};

template <class Rule>
void run_rule(const StepRun& run) {
  dispatch<kFloatingTypes>(run.type, "step", [&](auto tag) {
    using Loop = StepLoop<Rule, typename decltype(tag)::type>;
    for (const StepTensor* t = run.tensors; t != run.tensors + run.count; ++t) {
      const Loop loop(run.numbers, *t);
      parallel_for(0, t->numel, kGrain, [&](int64_t begin, int64_t end) { on_vector_unit<Loop>(loop, begin, end); });
    }
  });
}

template <int... kKinds>
void run_kind(const StepRun& run, std::integer_sequence<int, kKinds...>) {
  using Run = void(const StepRun&);
  static constexpr Run* kRules[] = {run_rule<StepRule<static_cast<StepKind>(kKinds)>>...};
  kRules[static_cast<int>(run.kind)](run);
}

}  // namespace

void fused_step(const StepRun* runs, int64_t count) {
  for (const StepRun* r = runs; r != runs + count; ++r) run_kind(*r, std::make_integer_sequence<int, kStepKinds>());
}

}  // namespace argand::cpu
