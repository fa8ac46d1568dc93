#include "argand/optim/rule_optimizer.h"

#include <iterator>

#include "argand/core/grad_mode.h"
#include "argand/kernels/api/fused_step.h"
#include "argand/ops/functions.h"

namespace argand::optim {

static_assert(std::tuple_size_v<StateSlots> == kMostStepStates + 1);

NumberedRule::NumberedRule(StepKind kind, bool maximize, double weight_decay)
    : kind(kind), numbers(static_cast<size_t>(step_counts(kind).numbers)) {
  (*this)[Descent::kSign] = maximize ? -1 : 1;
  (*this)[Descent::kDecay] = weight_decay;
}

Tensor RuleOptimizer::first_value(const OptimizerOptions&, const Tensor& param) const { return zeros_like(param); }

bool RuleOptimizer::in_step(const OptimizerParamState& a, const OptimizerParamState& b) const {
  return a.step_count() == b.step_count();
}

void RuleOptimizer::count_step(const OptimizerOptions&, OptimizerParamState& state) const noexcept {
  state.set_step_count(state.step_count() + 1);
}

// One step of all groups.  New parts of the states stay here until the step is done.
class RuleOptimizer::Step {
 public:
  explicit Step(RuleOptimizer& optimizer) : optimizer_(optimizer) {
    for (const OptimizerParamGroup& group : optimizer.param_groups()) {
      first_run_of_group_ = runs_.size();
      for (const Tensor& p : group.params())
        if (p.grad().defined()) add(group, p);
    }
  }

  void run() {
    if (runs_.empty()) return;
    std::vector<int64_t> rules, counts;
    std::vector<double> numbers;
    for (const Run& r : runs_) {
      rules.push_back(static_cast<int64_t>(r.rule.kind));
      counts.push_back(static_cast<int64_t>(r.params.size()));
      numbers.insert(numbers.end(), r.rule.numbers.begin(), r.rule.numbers.end());
    }
    OptimizerStates& states = optimizer_.state();
    if (!new_states_.empty()) states.reserve(states.size() + new_states_.size());
    _fused_step_(joined(&Run::params), joined(&Run::grads), joined(&Run::tensors), rules, counts, numbers);
    // It is done, and nothing from here on allocates.
    for (auto& [slot, value] : new_tensors_) *slot = std::move(value);
    for (const Run& r : runs_)
      for (OptimizerParamState* state : r.states) optimizer_.count_step(*r.options, *state);
    states.merge(new_states_);
  }

 private:
  // Parameters of one group that are in step.
  struct Run {
    const OptimizerOptions* options;
    NumberedRule rule;
    std::vector<OptimizerParamState*> states;
    std::vector<Tensor> params, grads, tensors;
  };

  void add(const OptimizerParamGroup& group, const Tensor& p) {
    const OptimizerOptions& options = group.options();
    OptimizerParamState* const known = known_state(p);
    if (!known && !blank_) blank_ = optimizer_.make_state();
    OptimizerParamState& state = known ? *known : *blank_;
    const StateSlots slots = optimizer_.slots(options, state);
    Run& run = run_of(group, state);
    run.states.push_back(&state);
    run.params.push_back(p);
    run.grads.push_back(p.grad());
    for (size_t i = 0; Tensor* const slot = slots[i]; ++i) {
      if (!slot->defined()) new_tensors_.emplace_back(slot, optimizer_.first_value(options, p));
      run.tensors.push_back(slot->defined() ? *slot : new_tensors_.back().second);
    }
    if (!known && slots[0]) new_states_.emplace(p.unsafeGetTensorImpl(), std::move(blank_));
  }

  OptimizerParamState* known_state(const Tensor& p) {
    for (OptimizerStates* states : {&optimizer_.state(), &new_states_})
      if (const auto found = states->find(p.unsafeGetTensorImpl()); found != states->end()) return found->second.get();
    return nullptr;
  }

  Run& run_of(const OptimizerParamGroup& group, const OptimizerParamState& state) {
    for (size_t r = runs_.size(); r-- > first_run_of_group_;)
      if (optimizer_.in_step(*runs_[r].states.front(), state)) return runs_[r];
    Run& run = runs_.emplace_back(Run{&group.options(), optimizer_.next_rule(group.options(), state), {}, {}, {}, {}});
    run.states.reserve(group.params().size());
    for (std::vector<Tensor>* list : {&run.params, &run.grads, &run.tensors}) list->reserve(group.params().size());
    return run;
  }

  std::vector<Tensor> joined(std::vector<Tensor> Run::*list) {
    if (runs_.size() == 1) return std::move(runs_[0].*list);
    std::vector<Tensor> out;
    for (Run& run : runs_) {
      std::vector<Tensor>& part = run.*list;
      out.insert(out.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
    }
    return out;
  }

  RuleOptimizer& optimizer_;
  std::vector<Run> runs_;
  size_t first_run_of_group_ = 0;
  std::vector<std::pair<Tensor*, Tensor>> new_tensors_;  // for states that lack them
  OptimizerStates new_states_;
  StatePtr blank_;  // the state for parameters without one; kept if they need none
};

Tensor RuleOptimizer::step(LossClosure closure) {
  Tensor loss = run_closure(closure);
  const NoGradGuard no_grad;
  Step(*this).run();
  return loss;
}

}  // namespace argand::optim
