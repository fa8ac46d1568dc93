// Schedules of the learning rate.  Call step() once per epoch (or per batch, for OneCycleLR), after optimizer.step().
//
// Constructing a scheduler sets the optimizer's rates to those of step 0.  Formulas are torch.optim.lr_scheduler's, in
// their closed forms, so that resuming from a step count gives the same rate as having counted there.
//
// A user-defined schedule overrides lr_at(), or get_lrs() as with LibTorch; the latter cannot be set to a step count.
#pragma once
#include <functional>
#include <memory>

#include "argand/optim/optimizer.h"

namespace argand::optim {

class LRScheduler {
 public:
  // Keeps a reference: the optimizer must outlive the scheduler.
  explicit LRScheduler(Optimizer& optimizer);
  virtual ~LRScheduler() = default;
  void step();
  // Rates after the last step(), one per parameter group.
  std::vector<double> get_last_lr() const;
  int64_t last_epoch() const { return step_count_; }
  // Goes to a step count, as when a run is resumed.  NotImplementedError for a schedule without lr_at().
  void set_last_epoch(int64_t steps);
  // The step count and the groups' initial rates.  Loading sets the optimizer's rates; ValueError, and
  // NotImplementedError for a schedule without lr_at(), change nothing.
  StateDict state_dict() const;
  void load_state_dict(const StateDict& state);

 protected:
  // A scheduler whose groups began with the rates that they had for `first`.
  LRScheduler(Optimizer& optimizer, const LRScheduler& first) : optimizer_(optimizer), base_lrs_(first.base_lrs_) {}
  // The rate of a group whose initial rate is `base`, after `steps` steps.
  virtual double lr_at(double base, int64_t steps, size_t group) const;
  // The rates that a step() sets, one per parameter group; step_count_ does not count it yet.
  virtual std::vector<double> get_lrs();
  std::vector<double> get_current_lrs() const { return get_last_lr(); }
  static double lr_of(const LRScheduler& s, double base, int64_t steps, size_t group) {
    return s.lr_at(base, steps, group);
  }
  void apply();
  unsigned step_count_ = 0;  // how often step() was called

 private:
  std::vector<double> lrs_at(const std::vector<double>& base_lrs, int64_t steps) const;
  void go_to(std::vector<double> base_lrs, int64_t steps);
  void set_optimizer_lrs(const std::vector<double>& learning_rates);

  Optimizer& optimizer_;
  std::vector<double> base_lrs_;
};

// Multiplies the rate by gamma every step_size steps.
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, int64_t step_size, double gamma = 0.1);

 protected:
  double lr_at(double base, int64_t steps, size_t group) const override;

 private:
  int64_t step_size_;
  double gamma_;
};

// Multiplies the rate by gamma at each milestone.
class MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);

 protected:
  double lr_at(double base, int64_t steps, size_t group) const override;

 private:
  std::vector<int64_t> milestones_;
  double gamma_;
};

// Half a cosine from the base rate to eta_min in T_max steps (Loshchilov and Hutter, 2017, without restarts).
class CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min = 0);

 protected:
  double lr_at(double base, int64_t steps, size_t group) const override;

 private:
  int64_t t_max_;
  double eta_min_;
};

// A factor that goes linearly from start_factor to end_factor in total_iters steps.
class LinearLR : public LRScheduler {
 public:
  LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1.0, int64_t total_iters = 5);

 protected:
  double lr_at(double base, int64_t steps, size_t group) const override;

 private:
  double start_, end_;
  int64_t total_iters_;
};

// Multiplies the rate by gamma at every step.
class ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma);

 protected:
  double lr_at(double base, int64_t steps, size_t group) const override;

 private:
  double gamma_;
};

// Decays to zero in total_iters steps, as a power of the fraction of steps that remain.
class PolynomialLR : public LRScheduler {
 public:
  explicit PolynomialLR(Optimizer& optimizer, int64_t total_iters = 5, double power = 1.0);

 protected:
  double lr_at(double base, int64_t steps, size_t group) const override;

 private:
  int64_t total_iters_;
  double power_;
};

// Multiplies the base rate by a function of the step count: one function for all parameter groups, or one for each.
class LambdaLR : public LRScheduler {
 public:
  using Lambda = std::function<double(int64_t)>;
  LambdaLR(Optimizer& optimizer, const Lambda& lr_lambda);
  LambdaLR(Optimizer& optimizer, std::vector<Lambda> lr_lambdas);

 protected:
  double lr_at(double base, int64_t steps, size_t group) const override;

 private:
  std::vector<Lambda> lambdas_;
};

// Half cosines from the base rate to eta_min, the first in T_0 steps and each T_mult times as long as the one before
// (Loshchilov and Hutter, 2017).
class CosineAnnealingWarmRestarts : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult = 1, double eta_min = 0);

 protected:
  double lr_at(double base, int64_t steps, size_t group) const override;

 private:
  int64_t t_0_, t_mult_;
  double eta_min_;
};

// Rises from base_lr to max_lr in step_size_up steps and falls back in step_size_down (0: as many), in cycles (Smith,
// 2017); momentum is left alone.  The amplitude is halved at each cycle (kTriangular2) or multiplied by gamma at each
// step (kExpRange).
class CyclicLR : public LRScheduler {
 public:
  enum class Mode { kTriangular, kTriangular2, kExpRange };
  CyclicLR(Optimizer& optimizer, double base_lr, double max_lr, int64_t step_size_up = 2000, int64_t step_size_down = 0,
           Mode mode = Mode::kTriangular, double gamma = 1.0);

 protected:
  double lr_at(double base, int64_t steps, size_t group) const override;

 private:
  double base_lr_, max_lr_;
  int64_t up_, down_;
  Mode mode_;
  double gamma_;
};

// One scheduler after another, each from its own step 0: the next begins at each milestone.  All must be made for this
// optimizer, in this order, and nobody else may step them.
class SequentialLR : public LRScheduler {
 public:
  SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers,
               std::vector<int64_t> milestones);

 protected:
  double lr_at(double base, int64_t steps, size_t group) const override;

 private:
  std::vector<std::shared_ptr<LRScheduler>> schedulers_;
  std::vector<int64_t> milestones_;
};

// Rises to max_lr and falls again along cosines (Smith and Topin, 2018); momentum is left alone.
class OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, double max_lr, int64_t total_steps, double pct_start = 0.3, double div_factor = 25,
             double final_div_factor = 1e4);

 protected:
  double lr_at(double base, int64_t steps, size_t group) const override;

 private:
  double max_lr_;
  int64_t total_steps_;
  double pct_start_, div_factor_, final_div_factor_;
};

// Multiplies the rate by `factor` when a metric has not improved for more than `patience` steps.
class ReduceLROnPlateau {
 public:
  enum class Mode { kMin, kMax };
  enum class ThresholdMode { kRel, kAbs };
  ReduceLROnPlateau(Optimizer& optimizer, Mode mode = Mode::kMin, double factor = 0.1, int64_t patience = 10,
                    double threshold = 1e-4, ThresholdMode threshold_mode = ThresholdMode::kRel, int64_t cooldown = 0,
                    double min_lr = 0, double eps = 1e-8);
  // Takes a minimum rate for each parameter group.  With `verbose`, prints each change to standard output.
  ReduceLROnPlateau(Optimizer& optimizer, Mode mode, double factor, int64_t patience, double threshold,
                    ThresholdMode threshold_mode, int64_t cooldown, std::vector<double> min_lrs, double eps,
                    bool verbose);
  void step(double metric);
  // The metrics' history; the rates themselves are in the optimizer's state.  A ValueError changes nothing.
  StateDict state_dict() const;
  void load_state_dict(const StateDict& state);

 private:
  bool is_better(double metric) const;
  Optimizer& optimizer_;
  Mode mode_;
  double factor_;
  int64_t patience_;
  double threshold_;
  ThresholdMode threshold_mode_;
  int64_t cooldown_;
  std::vector<double> min_lrs_;
  double eps_;
  bool verbose_;
  double best_;
  int64_t steps_ = 0, bad_steps_ = 0, cooldown_left_ = 0;
};

}  // namespace argand::optim
