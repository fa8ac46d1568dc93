#include "argand/optim/lr_scheduler.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <limits>
#include <numbers>
#include <sstream>

#include "argand/ops/functions.h"

namespace argand::optim {
namespace {

const Tensor& state_entry(const StateDict& state, const std::string& name, ScalarType dtype) {
  const Tensor* t = state.find(name);
  ARGAND_CHECK(ValueError, t && t->defined(), "lr_scheduler: load_state_dict: '", name, "' is missing");
  ARGAND_CHECK(ValueError, t->numel() == 1 && t->dtype() == dtype, "lr_scheduler: load_state_dict: '", name,
               "': expected one ", dtype, ", got ", t->dtype(), " of shape ", t->sizes());
  return *t;
}

void check_state_size(const StateDict& state, size_t expected) {
  ARGAND_CHECK(ValueError, state.size() == expected, "lr_scheduler: load_state_dict: expected ", expected,
               " entries, got ", state.size());
}

const LRScheduler& first_of(const std::vector<std::shared_ptr<LRScheduler>>& schedulers) {
  ARGAND_CHECK(ValueError, !schedulers.empty(), "SequentialLR: expected at least one scheduler, got none");
  for (size_t i = 0; i < schedulers.size(); ++i)
    ARGAND_CHECK(ValueError, schedulers[i], "SequentialLR: scheduler ", i, " is null");
  return *schedulers[0];
}

double half_cosine(double from, double to, double done) {
  return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * done));
}

}  // namespace

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {
  for (const OptimizerParamGroup& g : optimizer.param_groups()) base_lrs_.push_back(g.options().get_lr());
}

double LRScheduler::lr_at(double, int64_t, size_t) const {
  ARGAND_THROW(
      NotImplementedError,
      "lr_scheduler: the rate after any number of steps needs a schedule with lr_at(); this one has get_lrs()");
}

std::vector<double> LRScheduler::lrs_at(const std::vector<double>& base_lrs, int64_t steps) const {
  std::vector<double> out;
  for (size_t i = 0; i < base_lrs.size(); ++i) out.push_back(lr_at(base_lrs[i], steps, i));
  return out;
}

std::vector<double> LRScheduler::get_lrs() { return lrs_at(base_lrs_, int64_t{step_count_} + 1); }

void LRScheduler::set_optimizer_lrs(const std::vector<double>& learning_rates) {
  auto& groups = optimizer_.param_groups();
  ARGAND_CHECK(ValueError, groups.size() == learning_rates.size(), "lr_scheduler: expected as many rates as the ",
               groups.size(), " parameter groups of the optimizer, got ", learning_rates.size());
  for (size_t i = 0; i < groups.size(); ++i) groups[i].options().set_lr(learning_rates[i]);
}

void LRScheduler::apply() { set_optimizer_lrs(lrs_at(base_lrs_, step_count_)); }

void LRScheduler::step() {
  set_optimizer_lrs(get_lrs());
  ++step_count_;
}

void LRScheduler::set_last_epoch(int64_t steps) { go_to(base_lrs_, steps); }

// Everything that can throw comes before the changes.
void LRScheduler::go_to(std::vector<double> base_lrs, int64_t steps) {
  ARGAND_CHECK(ValueError, steps >= 0 && steps <= std::numeric_limits<unsigned>::max(),
               "lr_scheduler: the step count must be from 0 to 2^32 - 1, got ", steps);
  set_optimizer_lrs(lrs_at(base_lrs, steps));
  base_lrs_ = std::move(base_lrs);
  step_count_ = static_cast<unsigned>(steps);
}

StateDict LRScheduler::state_dict() const {
  StateDict out;
  out.insert("last_epoch", full(IntArrayRef(), last_epoch(), kLong));
  for (size_t i = 0; i < base_lrs_.size(); ++i)
    out.insert(str("base_lrs.", i), full(IntArrayRef(), base_lrs_[i], kDouble));
  return out;
}

void LRScheduler::load_state_dict(const StateDict& state) {
  std::vector<double> base_lrs;
  for (size_t i = 0; i < base_lrs_.size(); ++i)
    base_lrs.push_back(state_entry(state, str("base_lrs.", i), kDouble).item<double>());
  const auto steps = state_entry(state, "last_epoch", kLong).item<int64_t>();
  check_state_size(state, base_lrs.size() + 1);
  go_to(std::move(base_lrs), steps);
}

std::vector<double> LRScheduler::get_last_lr() const {
  std::vector<double> out;
  for (const OptimizerParamGroup& g : optimizer_.param_groups()) out.push_back(g.options().get_lr());
  return out;
}

StepLR::StepLR(Optimizer& optimizer, int64_t step_size, double gamma)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  ARGAND_CHECK(ValueError, step_size > 0, "StepLR: step_size must be positive, got ", step_size);
  apply();
}
double StepLR::lr_at(double base, int64_t steps, size_t) const {
  const int64_t drops = steps / step_size_;
  return base * std::pow(gamma_, static_cast<double>(drops));
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma)
    : LRScheduler(optimizer), milestones_(std::move(milestones)), gamma_(gamma) {
  std::sort(milestones_.begin(), milestones_.end());
  apply();
}
double MultiStepLR::lr_at(double base, int64_t steps, size_t) const {
  const auto passed = std::upper_bound(milestones_.begin(), milestones_.end(), steps) - milestones_.begin();
  return base * std::pow(gamma_, static_cast<double>(passed));
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min)
    : LRScheduler(optimizer), t_max_(T_max), eta_min_(eta_min) {
  ARGAND_CHECK(ValueError, T_max > 0, "CosineAnnealingLR: T_max must be positive, got ", T_max);
  apply();
}
double CosineAnnealingLR::lr_at(double base, int64_t steps, size_t) const {
  return half_cosine(base, eta_min_, static_cast<double>(steps) / static_cast<double>(t_max_));
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor, int64_t total_iters)
    : LRScheduler(optimizer), start_(start_factor), end_(end_factor), total_iters_(total_iters) {
  ARGAND_CHECK(ValueError, start_factor > 0 && start_factor <= 1, "LinearLR: start_factor must be in (0, 1], got ",
               start_factor);
  ARGAND_CHECK(ValueError, end_factor >= 0 && end_factor <= 1, "LinearLR: end_factor must be in [0, 1], got ",
               end_factor);
  ARGAND_CHECK(ValueError, total_iters > 0, "LinearLR: total_iters must be positive, got ", total_iters);
  apply();
}
double LinearLR::lr_at(double base, int64_t steps, size_t) const {
  const double done = static_cast<double>(std::min(steps, total_iters_)) / static_cast<double>(total_iters_);
  return base * (start_ + (end_ - start_) * done);
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma) : LRScheduler(optimizer), gamma_(gamma) { apply(); }
double ExponentialLR::lr_at(double base, int64_t steps, size_t) const {
  return base * std::pow(gamma_, static_cast<double>(steps));
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, int64_t total_iters, double power)
    : LRScheduler(optimizer), total_iters_(total_iters), power_(power) {
  ARGAND_CHECK(ValueError, total_iters > 0, "PolynomialLR: total_iters must be positive, got ", total_iters);
  apply();
}
double PolynomialLR::lr_at(double base, int64_t steps, size_t) const {
  const double done = static_cast<double>(std::min(steps, total_iters_)) / static_cast<double>(total_iters_);
  return base * std::pow(1 - done, power_);
}

LambdaLR::LambdaLR(Optimizer& optimizer, const Lambda& lr_lambda)
    : LambdaLR(optimizer, std::vector<Lambda>(optimizer.param_groups().size(), lr_lambda)) {}
LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Lambda> lr_lambdas)
    : LRScheduler(optimizer), lambdas_(std::move(lr_lambdas)) {
  const size_t groups = optimizer.param_groups().size();
  ARGAND_CHECK(ValueError, lambdas_.size() == groups, "LambdaLR: expected ", groups,
               " lr_lambdas, one for each parameter group, got ", lambdas_.size());
  for (size_t i = 0; i < groups; ++i) ARGAND_CHECK(ValueError, lambdas_[i], "LambdaLR: lr_lambda ", i, " is empty");
  apply();
}
double LambdaLR::lr_at(double base, int64_t steps, size_t group) const { return base * lambdas_[group](steps); }

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult,
                                                         double eta_min)
    : LRScheduler(optimizer), t_0_(T_0), t_mult_(T_mult), eta_min_(eta_min) {
  ARGAND_CHECK(ValueError, T_0 > 0, "CosineAnnealingWarmRestarts: T_0 must be positive, got ", T_0);
  ARGAND_CHECK(ValueError, T_mult >= 1, "CosineAnnealingWarmRestarts: T_mult must be at least 1, got ", T_mult);
  apply();
}
double CosineAnnealingWarmRestarts::lr_at(double base, int64_t steps, size_t) const {
  int64_t length = t_0_, at = steps;
  if (t_mult_ == 1) at %= length;
  for (; at >= length; length *= t_mult_) at -= length;
  return half_cosine(base, eta_min_, static_cast<double>(at) / static_cast<double>(length));
}

CyclicLR::CyclicLR(Optimizer& optimizer, double base_lr, double max_lr, int64_t step_size_up, int64_t step_size_down,
                   Mode mode, double gamma)
    : LRScheduler(optimizer),
      base_lr_(base_lr),
      max_lr_(max_lr),
      up_(step_size_up),
      down_(step_size_down == 0 ? step_size_up : step_size_down),
      mode_(mode),
      gamma_(gamma) {
  ARGAND_CHECK(ValueError, step_size_up > 0, "CyclicLR: step_size_up must be positive, got ", step_size_up);
  ARGAND_CHECK(ValueError, step_size_down >= 0, "CyclicLR: step_size_down must not be negative, got ", step_size_down);
  apply();
}
double CyclicLR::lr_at(double, int64_t steps, size_t) const {
  const int64_t cycle = steps / (up_ + down_), at = steps % (up_ + down_);
  const double height = at <= up_ ? static_cast<double>(at) / static_cast<double>(up_)
                                  : static_cast<double>(up_ + down_ - at) / static_cast<double>(down_);
  const double scale = mode_ == Mode::kTriangular2 ? std::pow(0.5, static_cast<double>(cycle))
                       : mode_ == Mode::kExpRange  ? std::pow(gamma_, static_cast<double>(steps))
                                                   : 1;
  return base_lr_ + (max_lr_ - base_lr_) * height * scale;
}

SequentialLR::SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers,
                           std::vector<int64_t> milestones)
    : LRScheduler(optimizer, first_of(schedulers)),
      schedulers_(std::move(schedulers)),
      milestones_(std::move(milestones)) {
  ARGAND_CHECK(ValueError, milestones_.size() + 1 == schedulers_.size(), "SequentialLR: expected ",
               schedulers_.size() - 1, " milestones for ", schedulers_.size(), " schedulers, got ", milestones_.size());
  ARGAND_CHECK(ValueError, std::is_sorted(milestones_.begin(), milestones_.end()),
               "SequentialLR: milestones must not decrease, got ", IntArrayRef(milestones_));
  apply();
}
double SequentialLR::lr_at(double base, int64_t steps, size_t group) const {
  const auto next = std::upper_bound(milestones_.begin(), milestones_.end(), steps);
  const int64_t begin = next == milestones_.begin() ? 0 : *(next - 1);
  return lr_of(*schedulers_[static_cast<size_t>(next - milestones_.begin())], base, steps - begin, group);
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, double max_lr, int64_t total_steps, double pct_start, double div_factor,
                       double final_div_factor)
    : LRScheduler(optimizer),
      max_lr_(max_lr),
      total_steps_(total_steps),
      pct_start_(pct_start),
      div_factor_(div_factor),
      final_div_factor_(final_div_factor) {
  ARGAND_CHECK(ValueError, total_steps > 0, "OneCycleLR: total_steps must be positive, got ", total_steps);
  ARGAND_CHECK(ValueError, pct_start >= 0 && pct_start <= 1, "OneCycleLR: pct_start must be in [0, 1], got ",
               pct_start);
  apply();
}
double OneCycleLR::lr_at(double, int64_t steps, size_t) const {
  ARGAND_CHECK(ValueError, steps <= total_steps_, "OneCycleLR: tried to step ", steps, " times; total_steps is ",
               total_steps_);
  const double initial = max_lr_ / div_factor_, last = initial / final_div_factor_;
  const double top = pct_start_ * static_cast<double>(total_steps_) - 1, end = static_cast<double>(total_steps_) - 1;
  const auto at = static_cast<double>(steps);
  // A phase of length zero ends at once.
  if (at <= top) return half_cosine(initial, max_lr_, top > 0 ? at / top : 1);
  return half_cosine(max_lr_, last, end > top ? (at - top) / (end - top) : 1);
}

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, Mode mode, double factor, int64_t patience, double threshold,
                                     ThresholdMode threshold_mode, int64_t cooldown, double min_lr, double eps)
    : ReduceLROnPlateau(optimizer, mode, factor, patience, threshold, threshold_mode, cooldown,
                        std::vector<double>(optimizer.param_groups().size(), min_lr), eps, false) {}

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, Mode mode, double factor, int64_t patience, double threshold,
                                     ThresholdMode threshold_mode, int64_t cooldown, std::vector<double> min_lrs,
                                     double eps, bool verbose)
    : optimizer_(optimizer),
      mode_(mode),
      factor_(factor),
      patience_(patience),
      threshold_(threshold),
      threshold_mode_(threshold_mode),
      cooldown_(cooldown),
      min_lrs_(std::move(min_lrs)),
      eps_(eps),
      verbose_(verbose),
      best_(mode == Mode::kMin ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity()) {
  ARGAND_CHECK(ValueError, factor < 1, "ReduceLROnPlateau: factor should be < 1.0, got ", factor);
  ARGAND_CHECK(ValueError, min_lrs_.size() == optimizer.param_groups().size(),
               "ReduceLROnPlateau: expected as many least rates as the ", optimizer.param_groups().size(),
               " parameter groups, got ", min_lrs_.size());
  ARGAND_CHECK(ValueError, !min_lrs_.empty(), "ReduceLROnPlateau: the optimizer has no parameter groups");
}

bool ReduceLROnPlateau::is_better(double metric) const {
  const bool relative = threshold_mode_ == ThresholdMode::kRel;
  if (mode_ == Mode::kMin) return metric < (relative ? best_ * (1 - threshold_) : best_ - threshold_);
  return metric > (relative ? best_ * (1 + threshold_) : best_ + threshold_);
}

void ReduceLROnPlateau::step(double metric) {
  ++steps_;
  if (is_better(metric)) {
    best_ = metric;
    bad_steps_ = 0;
  } else {
    ++bad_steps_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_steps_ = 0;
  }
  if (bad_steps_ <= patience_) return;
  auto& groups = optimizer_.param_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    // A group that was added later has the minimum rate of the last one.
    const double least = min_lrs_[std::min(i, min_lrs_.size() - 1)];
    const double old = groups[i].options().get_lr(), lowered = std::max(old * factor_, least);
    if (old - lowered <= eps_) continue;
    groups[i].options().set_lr(lowered);
    if (!verbose_) continue;
    std::ostringstream line;  // the program's stream keeps its own precision
    line << std::setprecision(4) << "Epoch " << steps_ << ": reducing learning rate of group " << i << " to " << lowered
         << "\n";
    std::cout << line.str();
  }
  cooldown_left_ = cooldown_;
  bad_steps_ = 0;
}

StateDict ReduceLROnPlateau::state_dict() const {
  StateDict out;
  out.insert("best", full(IntArrayRef(), best_, kDouble));
  out.insert("num_bad_epochs", full(IntArrayRef(), bad_steps_, kLong));
  out.insert("cooldown_counter", full(IntArrayRef(), cooldown_left_, kLong));
  return out;
}

void ReduceLROnPlateau::load_state_dict(const StateDict& state) {
  const Tensor best = state_entry(state, "best", kDouble);
  const Tensor bad_steps = state_entry(state, "num_bad_epochs", kLong);
  const Tensor cooldown_left = state_entry(state, "cooldown_counter", kLong);
  check_state_size(state, 3);
  best_ = best.item<double>();
  bad_steps_ = bad_steps.item<int64_t>();
  cooldown_left_ = cooldown_left.item<int64_t>();
}

}  // namespace argand::optim
