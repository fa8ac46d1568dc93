// ReduceLROnPlateauScheduler: ReduceLROnPlateau with LibTorch's names and arguments.
#pragma once
#include "argand/optim/lr_scheduler.h"
#include "torch/types.h"

namespace argand::optim {

class ReduceLROnPlateauScheduler {
 public:
  enum SchedulerMode { min, max };
  enum ThresholdMode { rel, abs };
  // `min_lr` has one rate per parameter group, or none: 0.
  explicit ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode = min, float factor = 0.1F,
                                      int patience = 10, double threshold = 1e-4, ThresholdMode threshold_mode = rel,
                                      int cooldown = 0, const std::vector<float>& min_lr = {}, double eps = 1e-8,
                                      bool verbose = false)
      : scheduler_(
            optimizer, mode == min ? ReduceLROnPlateau::Mode::kMin : ReduceLROnPlateau::Mode::kMax,
            static_cast<double>(factor), patience, threshold,
            threshold_mode == rel ? ReduceLROnPlateau::ThresholdMode::kRel : ReduceLROnPlateau::ThresholdMode::kAbs,
            cooldown,
            min_lr.empty() ? std::vector<double>(optimizer.param_groups().size())
                           : std::vector<double>(min_lr.begin(), min_lr.end()),
            eps, verbose) {}
  virtual ~ReduceLROnPlateauScheduler() = default;
  void step(float metric) { scheduler_.step(static_cast<double>(metric)); }

 private:
  ReduceLROnPlateau scheduler_;
};

}  // namespace argand::optim
