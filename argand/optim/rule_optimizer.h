// The base of optimizers that change each element of a parameter by one rule (kernels/step_rules.h).
//
// The two parts of a complex element are elements of their own.
// A step is one op over all groups and is atomic: after an exception, parameters and states are as before.  On a GPU, a
// part may have been done if a driver call fails after the first launch.
#pragma once
#include <array>

#include "argand/optim/optimizer.h"

namespace argand {
enum class StepKind : int;
}

namespace argand::optim {

// A rule and its numbers, indexed by the names that the rule gives to their positions.
struct NumberedRule {
  NumberedRule(StepKind kind, bool maximize, double weight_decay);
  double& operator[](int place) { return numbers[static_cast<size_t>(place)]; }
  StepKind kind;
  std::vector<double> numbers;
};
// The tensors of a state that a rule changes, in its order, and null after the last one.
using StateSlots = std::array<Tensor*, 4>;

class RuleOptimizer : public Optimizer {
 public:
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  using Optimizer::Optimizer;

  // The rule of the next step of a parameter with this state.
  virtual NumberedRule next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const = 0;
  // No state is made if the options need none.
  virtual StateSlots slots(const OptimizerOptions& options, OptimizerParamState& state) const = 0;
  // The initial value of such a tensor: zeros.
  virtual Tensor first_value(const OptimizerOptions& options, const Tensor& param) const;
  // Whether next_rule() is the same for both in one group: they have made the same number of steps.
  virtual bool in_step(const OptimizerParamState& a, const OptimizerParamState& b) const;
  // Called after a step whose rule was next_rule().
  virtual void count_step(const OptimizerOptions& options, OptimizerParamState& state) const noexcept;

 private:
  class Step;
};

}  // namespace argand::optim
