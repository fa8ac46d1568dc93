// Loss scaling for float16 (Micikevicius et al., 2018), with the meaning and names of torch.amp.GradScaler.
//
//   amp::GradScaler scaler;
//   optimizer.zero_grad();
//   scaler.scale(loss).backward();
//   const amp::StepReport report = scaler.step(optimizer);   // not a step if a gradient has an infinity or NaN
//   if (!report.stepped) std::cout << report.describe() << "\n";
//   scaler.update();
//
// Small gradients vanish in float16, so the loss is multiplied by a scale, and the gradients are divided by it again
// before the optimizer sees them.  A scale that is too large makes infinities: that step is left out and the scale is
// multiplied by backoff_factor; after growth_interval steps without any it is multiplied by growth_factor.
// The scale and the flags of infinities stay on the device; only step() waits for the device, once per device.
#pragma once
#include <optional>
#include <unordered_map>

#include "argand/optim/optimizer.h"

namespace argand::amp {

struct GradScalerOptions {
  ARGAND_ARG(double, init_scale) = 65536;
  ARGAND_ARG(double, growth_factor) = 2;     // above 1
  ARGAND_ARG(double, backoff_factor) = 0.5;  // below 1
  ARGAND_ARG(int64_t, growth_interval) = 2000;
  ARGAND_ARG(bool, enabled) = true;  // false: scale() gives back what it gets, step() is the optimizer's
};

// The result of GradScaler::step.
struct StepReport {
  // The first parameter, in the order of the optimizer's groups, whose gradient had an infinity or NaN.
  struct NonFinite {
    size_t group, position;  // the parameter's group, and its position there
    size_t index;            // over all groups, as in the optimizer's state_dict()
    Tensor parameter;
  };
  bool stepped = true;
  std::optional<NonFinite> first;
  Tensor loss;  // what the optimizer's step returned

  // "stepped", or "no step: the gradient of parameter 3 (group 0, position 3), 'fc.weight', of shape [10, 5] has an
  // infinity or NaN"; the name if the parameter is among `names`, as from named_parameters().
  std::string describe(const StateDict& names = StateDict()) const;
};

class GradScaler {
 public:
  explicit GradScaler(GradScalerOptions options = {});

  // `outputs` times the scale.  The first call puts the scale on the device of `outputs`.
  Tensor scale(const Tensor& outputs);
  std::vector<Tensor> scale(TensorList outputs);
  // Divides the gradients of the optimizer's parameters by the scale, for a program that clips or looks at them before
  // step(); once between two update().  ValueError for a second time, after step(), before any scale(), and for
  // gradients in float16, which have lost what the scale was to save.
  void unscale_(optim::Optimizer& optimizer);
  // unscale_() if it was not called, and the optimizer's step if no gradient had an infinity or NaN.  ValueError for a
  // second time since update(), before any scale(), or if no parameter has a gradient.
  StepReport step(optim::Optimizer& optimizer);
  // The scale of the next iteration: once after the steps of all optimizers.  ValueError if nothing was unscaled.
  void update();
  void update(double new_scale);

  double get_scale() const;  // waits for the device; 1 if not enabled
  double get_growth_factor() const { return options_.growth_factor(); }
  void set_growth_factor(double v) { options_.growth_factor(v); }
  double get_backoff_factor() const { return options_.backoff_factor(); }
  void set_backoff_factor(double v) { options_.backoff_factor(v); }
  int64_t get_growth_interval() const { return options_.growth_interval(); }
  void set_growth_interval(int64_t v) { options_.growth_interval(v); }
  bool is_enabled() const { return options_.enabled(); }

  // "scale", "growth_factor", "backoff_factor", "growth_interval" and "_growth_tracker", a number each; empty if not
  // enabled.  Call it after update().
  StateDict state_dict() const;
  // ValueError, with nothing changed, for an empty one (of a scaler that was not enabled) and one that lacks an entry.
  void load_state_dict(const StateDict& state);

 private:
  enum class Stage { kReady, kUnscaled, kStepped };
  // Gradients on one device; found[i] is 1 if that of parameter indices[i] had an infinity or NaN.
  struct Found {
    Device device;
    std::vector<size_t> indices;
    Tensor found;
  };
  struct PerOptimizer {
    Stage stage = Stage::kReady;
    std::vector<Found> devices;
  };
  void init_scale(const Device& device);
  void check_scale(const char* function) const;
  std::vector<Found> unscale_gradients(optim::Optimizer& optimizer) const;

  GradScalerOptions options_;
  int64_t init_growth_tracker_ = 0;
  Tensor scale_, growth_tracker_;  // float32 and int32, undefined until the first scale()
  std::unordered_map<const optim::Optimizer*, PerOptimizer> optimizers_;
};

}  // namespace argand::amp
