#include "argand/optim/nadam.h"

#include <cmath>

#include "argand/kernels/step_rules.h"

namespace argand::optim {

namespace {

double momentum_at(const NAdamOptions& o, int64_t step) {
  return std::get<0>(o.betas()) * (1 - 0.5 * std::pow(0.96, static_cast<double>(step) * o.momentum_decay()));
}

// The product of the momenta up to the next step.
double next_product(const NAdamOptions& o, const NAdamParamState& s) {
  double product = s.mu_product();
  for (int64_t step = s.mu_steps() + 1; step <= s.step() + 1; ++step) product *= momentum_at(o, step);
  return product;
}

}  // namespace

void NAdamOptions::each_number(const std::function<void(const char*, double&)>& f) {
  f("lr", lr_);
  f("beta1", std::get<0>(betas_));
  f("beta2", std::get<1>(betas_));
  f("eps", eps_);
  f("weight_decay", weight_decay_);
  f("momentum_decay", momentum_decay_);
  each_flag("decoupled_weight_decay", decoupled_weight_decay_, f);
  each_flag("maximize", maximize_, f);
}

NAdam::NAdam(const std::vector<OptimizerParamGroup>& groups, NAdamOptions d)
    : RuleOptimizer(groups, std::make_unique<NAdamOptions>(d)) {
  check_betas(d.betas());
  check_numbers(d);
}

bool NAdam::in_step(const OptimizerParamState& a, const OptimizerParamState& b) const {
  const auto &x = static_cast<const NAdamParamState&>(a), &y = static_cast<const NAdamParamState&>(b);
  return x.step() == y.step() && x.mu_steps() == y.mu_steps() && x.mu_product() == y.mu_product();
}

NumberedRule NAdam::next_rule(const OptimizerOptions& options, const OptimizerParamState& state) const {
  const auto& o = static_cast<const NAdamOptions&>(options);
  const auto& s = static_cast<const NAdamParamState&>(state);
  const auto [beta1, beta2] = o.betas();
  const int64_t step = s.step() + 1;
  const double next = momentum_at(o, step + 1), product = next_product(o, s);
  const bool decoupled = o.decoupled_weight_decay();
  using R = StepRule<StepKind::kNadam>;
  NumberedRule c(StepKind::kNadam, o.maximize(), decoupled ? 0 : o.weight_decay());
  c[R::kRest1] = 1 - beta1;
  c[R::kBeta2] = beta2;
  c[R::kRest2] = 1 - beta2;
  c[R::kCorrection2] = 1 - std::pow(beta2, static_cast<double>(step));
  c[R::kEps] = o.eps();
  c[R::kShrink] = decoupled ? 1 - o.lr() * o.weight_decay() : 1;
  c[R::kGradStep] = o.lr() * (1 - momentum_at(o, step)) / (1 - product);
  c[R::kAverageStep] = o.lr() * next / (1 - product * next);
  return c;
}

void NAdam::count_step(const OptimizerOptions& options, OptimizerParamState& state) const noexcept {
  auto& s = static_cast<NAdamParamState&>(state);
  s.mu_product(next_product(static_cast<const NAdamOptions&>(options), s));
  s.step(s.step() + 1);
  s.mu_steps(s.step());
}

StateSlots NAdam::slots(const OptimizerOptions&, OptimizerParamState& state) const {
  auto& s = static_cast<NAdamParamState&>(state);
  return {&s.exp_avg(), &s.exp_avg_sq()};
}

}  // namespace argand::optim
