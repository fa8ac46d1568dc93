#include "argand/optim/grad_scaler.h"

#include <algorithm>

#include "argand/core/grad_mode.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::amp {
namespace {

// Parameter `index` over all groups.
StepReport::NonFinite locate(const optim::Optimizer& optimizer, size_t index) {
  size_t position = index;
  for (size_t g = 0;; ++g) {
    const std::vector<Tensor>& params = optimizer.param_groups()[g].params();
    if (position < params.size()) return {g, position, index, params[position]};
    position -= params.size();
  }
}

Tensor number(double value) { return full(IntArrayRef(), value, kDouble); }
Tensor number(int64_t value) { return full(IntArrayRef(), value, kLong); }

}  // namespace

std::string StepReport::describe(const StateDict& names) const {
  if (stepped) return "stepped";
  std::string name;
  for (const auto& item : names)
    if (item.value().is_same(first->parameter)) name = str(" '", item.key(), "',");
  return str("no step: the gradient of parameter ", first->index, " (group ", first->group, ", position ",
             first->position, "),", name, " of shape ", first->parameter.sizes(), " has an infinity or NaN");
}

GradScaler::GradScaler(GradScalerOptions options) : options_(options) {
  if (!is_enabled()) return;
  ARGAND_CHECK(ValueError, options_.growth_factor() > 1, "GradScaler: the growth factor must be > 1.0, got ",
               options_.growth_factor());
  ARGAND_CHECK(ValueError, options_.backoff_factor() < 1, "GradScaler: the backoff factor must be < 1.0, got ",
               options_.backoff_factor());
}

void GradScaler::init_scale(const Device& device) {
  if (scale_.defined()) return;
  scale_ = full(IntArrayRef(), options_.init_scale(), TensorOptions(kFloat).device(device));
  growth_tracker_ = full(IntArrayRef(), init_growth_tracker_, TensorOptions(kInt).device(device));
}

void GradScaler::check_scale(const char* function) const {
  ARGAND_CHECK(ValueError, scale_.defined(), "GradScaler: ", function,
               "() before any scale(): multiply the loss with scaler.scale(loss) before backward()");
}

Tensor GradScaler::scale(const Tensor& outputs) {
  if (!is_enabled()) return outputs;
  init_scale(outputs.device());
  return outputs * scale_.to(outputs.device(), scale_.dtype(), true);
}

std::vector<Tensor> GradScaler::scale(TensorList outputs) {
  std::vector<Tensor> out;
  for (const Tensor& t : outputs) out.push_back(scale(t));
  return out;
}

std::vector<GradScaler::Found> GradScaler::unscale_gradients(optim::Optimizer& optimizer) const {
  std::vector<Found> devices;
  std::vector<std::vector<Tensor>> grads;
  size_t index = 0;
  for (const optim::OptimizerParamGroup& group : optimizer.param_groups())
    for (const Tensor& p : group.params()) {
      const size_t at = index++;
      const Tensor& g = p.grad();
      if (!g.defined()) continue;
      ARGAND_CHECK(ValueError, g.dtype() != kHalf, "GradScaler: attempting to unscale float16 gradients: parameter ",
                   at, " of shape ", p.sizes(), "; parameters should be float32, autocast makes the float16 copies");
      const auto is_here = [&](const Found& f) { return f.device == g.device(); };
      auto it = std::find_if(devices.begin(), devices.end(), is_here);
      if (it == devices.end()) {
        it = devices.insert(it, {g.device(), {}, {}});
        grads.emplace_back();
      }
      it->indices.push_back(at);
      grads[static_cast<size_t>(it - devices.begin())].push_back(g);
    }
  const Tensor inv_scale = scale_.to(kDouble).reciprocal().to(kFloat);
  for (size_t d = 0; d < devices.size(); ++d) {
    Found& f = devices[d];
    f.found = zeros({static_cast<int64_t>(f.indices.size())}, TensorOptions(kFloat).device(f.device));
    _amp_foreach_non_finite_check_and_unscale_(grads[d], f.found, inv_scale.to(f.device, kFloat, true));
  }
  return devices;
}

void GradScaler::unscale_(optim::Optimizer& optimizer) {
  if (!is_enabled()) return;
  check_scale("unscale_");
  PerOptimizer& state = optimizers_[&optimizer];
  ARGAND_CHECK(ValueError, state.stage != Stage::kUnscaled,
               "GradScaler: unscale_() was already called on this optimizer since the last update()");
  ARGAND_CHECK(ValueError, state.stage != Stage::kStepped, "GradScaler: unscale_() is being called after step()");
  const NoGradGuard no_grad;
  state.devices = unscale_gradients(optimizer);
  state.stage = Stage::kUnscaled;
}

StepReport GradScaler::step(optim::Optimizer& optimizer) {
  StepReport report;
  if (!is_enabled()) {
    report.loss = optimizer.step();
    return report;
  }
  check_scale("step");
  PerOptimizer& state = optimizers_[&optimizer];
  ARGAND_CHECK(ValueError, state.stage != Stage::kStepped,
               "GradScaler: step() was already called on this optimizer since the last update()");
  if (state.stage == Stage::kReady) unscale_(optimizer);
  ARGAND_CHECK(ValueError, !state.devices.empty(),
               "GradScaler: no gradients were checked for this optimizer: none of its parameters has one");
  std::optional<size_t> first;
  for (const Found& f : state.devices) {
    const Tensor found = f.found.cpu();  // waits
    const float* const flags = found.const_data_ptr<float>();
    for (size_t i = 0; i < f.indices.size(); ++i)
      if (flags[i] != 0) {
        first = std::min(first.value_or(f.indices[i]), f.indices[i]);
        break;
      }
  }
  report.stepped = !first;
  if (first)
    report.first = locate(optimizer, *first);
  else
    report.loss = optimizer.step();
  state.stage = Stage::kStepped;
  return report;
}

void GradScaler::update() {
  if (!is_enabled()) return;
  check_scale("update");
  const NoGradGuard no_grad;
  Tensor found;
  for (const auto& [optimizer, state] : optimizers_)
    for (const Found& f : state.devices) {
      const Tensor here = f.found.amax().to(scale_.device(), kFloat, true);
      found = found.defined() ? found + here : here;
    }
  ARGAND_CHECK(ValueError, found.defined(),
               "GradScaler: update() before any gradients were checked by step() or unscale_()");
  _amp_update_scale_(scale_, growth_tracker_, found, options_.growth_factor(), options_.backoff_factor(),
                     options_.growth_interval());
  optimizers_.clear();
}

void GradScaler::update(double new_scale) {
  if (!is_enabled()) return;
  check_scale("update");
  const NoGradGuard no_grad;
  scale_.fill_(new_scale);
  optimizers_.clear();
}

double GradScaler::get_scale() const {
  if (!is_enabled()) return 1;
  return scale_.defined() ? scale_.item<double>() : options_.init_scale();
}

StateDict GradScaler::state_dict() const {
  StateDict out;
  if (!is_enabled()) return out;
  const int64_t tracker = growth_tracker_.defined() ? growth_tracker_.item<int64_t>() : init_growth_tracker_;
  out.insert("scale", number(get_scale()));
  out.insert("growth_factor", number(options_.growth_factor()));
  out.insert("backoff_factor", number(options_.backoff_factor()));
  out.insert("growth_interval", number(options_.growth_interval()));
  out.insert("_growth_tracker", number(tracker));
  return out;
}

void GradScaler::load_state_dict(const StateDict& state) {
  if (!is_enabled()) return;
  ARGAND_CHECK(ValueError, state.size() > 0,
               "GradScaler: the state is empty; it may be that of a scaler that was not enabled");
  const auto find = [&](const char* name) -> const Tensor& {
    const Tensor* t = state.find(name);
    ARGAND_CHECK(ValueError, t && t->numel() == 1, "GradScaler: expected one number as '", name, "' in the state, got ",
                 t ? str("a tensor of shape ", t->sizes()) : "none");
    return *t;
  };
  const double scale = find("scale").item<double>();
  const auto tracker = find("_growth_tracker").item<int64_t>();
  options_ = GradScalerOptions(options_)
                 .init_scale(scale)
                 .growth_factor(find("growth_factor").item<double>())
                 .backoff_factor(find("backoff_factor").item<double>())
                 .growth_interval(find("growth_interval").item<int64_t>());
  init_growth_tracker_ = tracker;
  if (!scale_.defined()) return;
  scale_.fill_(scale);
  growth_tracker_.fill_(tracker);
}

}  // namespace argand::amp
