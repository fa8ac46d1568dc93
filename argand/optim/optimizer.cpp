#include "argand/optim/optimizer.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <string_view>
#include <unordered_set>

#include "argand/base/log.h"
#include "argand/core/grad_mode.h"
#include "argand/ops/functions.h"
#include "argand/serialize/archive.h"

namespace argand::optim {

void check_numbers(OptimizerOptions& options) {
  options.each_number([](const char* name, double& value) {
    const std::string_view n = name;
    if (n == "beta1" || n == "beta2") return;  // check_betas
    const std::string what = n == "lr" ? "learning rate" : n == "eps" ? "epsilon value" : str(name, " value");
    ARGAND_CHECK(ValueError, value >= 0, "Invalid ", what, ": ", value);
  });
}

void check_betas(const std::tuple<double, double>& betas) {
  const auto [b1, b2] = betas;
  ARGAND_CHECK(ValueError, 0 <= b1 && b1 < 1, "Invalid beta parameter at index 0: ", b1);
  ARGAND_CHECK(ValueError, 0 <= b2 && b2 < 1, "Invalid beta parameter at index 1: ", b2);
}

namespace {

struct Number {
  const char* name;
  double value;
};
std::vector<Number> numbers_of(const OptimizerOptions& options) {
  std::vector<Number> out;
  options.clone()->each_number([&](const char* name, double& value) { out.push_back({name, value}); });
  return out;
}

// The setter of a number that each_number() names.
std::string_view setter_of(std::string_view number) {
  if (number == "beta1" || number == "beta2") return "betas";
  return number == "strong_wolfe" ? "line_search_fn" : number;
}

Tensor number(double value) { return full(IntArrayRef(), value, kDouble); }

}  // namespace

bool OptimizerOptions::is_set(const char* number) const {
  const std::string_view setter = setter_of(number);
  return std::any_of(set_.begin(), set_.end(), [&](const char* name) { return setter == name; });
}

std::unique_ptr<OptimizerOptions> OptimizerOptions::over(const OptimizerOptions& defaults) const {
  const std::vector<Number> mine = numbers_of(*this);
  const std::unique_ptr<OptimizerOptions> fresh = untouched();
  if (typeid(*this) != typeid(defaults) || mine.empty() || !fresh) return clone();
  const std::vector<Number> usual = numbers_of(*fresh);
  std::unique_ptr<OptimizerOptions> out = defaults.clone();
  size_t i = 0;
  out->each_number([&](const char* name, double& value) {
    if (is_set(name) || mine[i].value != usual[i].value) value = mine[i].value;
    ++i;
  });
  return out;
}

void OptimizerOptions::serialize(argand::serialize::OutputArchive& archive) const {
  for (const Number& n : numbers_of(*this)) archive.write(n.name, number(n.value));
}
void OptimizerOptions::serialize(argand::serialize::InputArchive& archive) {
  each_number([&](const char* name, double& value) {
    Tensor t;
    archive.read(name, t);
    value = t.item<double>();
  });
}

void OptimizerParamState::serialize(argand::serialize::OutputArchive& archive) const {
  archive.write("step", full(IntArrayRef(), step_count(), kLong));
  clone()->each_tensor([&](const char* name, Tensor& t, bool) {
    if (t.defined()) archive.write(name, t.detach());
  });
}
void OptimizerParamState::serialize(argand::serialize::InputArchive& archive) {
  Tensor step;
  archive.read("step", step);
  set_step_count(step.item<int64_t>());
  each_tensor([&](const char* name, Tensor& t, bool required) {
    t = Tensor();
    if (required)
      archive.read(name, t);
    else
      archive.try_read(name, t);
  });
}

OptimizerOptions& OptimizerParamGroup::options() {
  ARGAND_CHECK(ValueError, options_, "the parameter group has no options; add it to an optimizer first");
  return *options_;
}

Optimizer::Optimizer(const std::vector<OptimizerParamGroup>& groups, std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  for (const OptimizerParamGroup& g : groups) add_param_group(g);
}

void Optimizer::add_param_group(const OptimizerParamGroup& group) {
  std::unordered_set<const void*> there, here;
  for (const OptimizerParamGroup& other : groups_)
    for (const Tensor& p : other.params()) there.insert(p.unsafeGetTensorImpl());
  for (const Tensor& p : group.params()) {
    ARGAND_CHECK(ValueError, p.defined(), "add_param_group: a parameter is undefined");
    ARGAND_CHECK(GradError, p.is_leaf(), "can't optimize a non-leaf Tensor");
    ARGAND_CHECK(ValueError, there.count(p.unsafeGetTensorImpl()) == 0,
                 "some parameters appear in more than one parameter group");
    ARGAND_CHECK(ValueError, here.insert(p.unsafeGetTensorImpl()).second,
                 "a parameter group contains duplicate parameters");
  }
  groups_.push_back(group);
  OptimizerParamGroup& added = groups_.back();
  added.set_options(added.has_options() ? added.options().over(*defaults_) : defaults_->clone());
}

void Optimizer::zero_grad(bool set_to_none) {
  for (OptimizerParamGroup& group : groups_) {
    for (Tensor& p : group.params()) {
      Tensor& g = p.mutable_grad();
      if (!g.defined()) continue;
      if (set_to_none) {
        g = Tensor();
      } else {
        g = g.detach();
        g.zero_();
      }
    }
  }
}

static void warn_of_end(const char* name) {
  warn("Optimizer::", name, "() will be removed; ask param_groups() for the parameters of each group");
}

size_t Optimizer::size() const {
  warn_of_end("size");
  size_t n = 0;
  for (const OptimizerParamGroup& g : groups_) n += g.params().size();
  return n;
}

std::vector<Tensor> Optimizer::parameters() const {
  warn_of_end("parameters");
  std::vector<Tensor> all;
  for (const OptimizerParamGroup& g : groups_) all.insert(all.end(), g.params().begin(), g.params().end());
  return all;
}

void Optimizer::add_parameters(const std::vector<Tensor>& parameters) {
  warn_of_end("add_parameters");
  ARGAND_CHECK(ValueError, !groups_.empty(), "add_parameters: the optimizer has no group; use add_param_group");
  std::vector<Tensor>& first = groups_[0].params();
  first.insert(first.end(), parameters.begin(), parameters.end());
}

void* OptimizerStates::parse(const std::string& address) {
  void* p = nullptr;
  ARGAND_CHECK(ValueError, std::sscanf(address.c_str(), "%p", &p) == 1, "state: expected an address, got '", address,
               "'");
  return p;
}

bool operator==(const OptimizerOptions& a, const OptimizerOptions& b) {
  const auto same = [](const Number& x, const Number& y) { return x.value == y.value; };
  const std::vector<Number> x = numbers_of(a), y = numbers_of(b);
  return typeid(a) == typeid(b) && std::equal(x.begin(), x.end(), y.begin(), y.end(), same);
}

bool operator==(const OptimizerParamState& a, const OptimizerParamState& b) {
  const auto tensors = [](const OptimizerParamState& state) {
    std::vector<Tensor> out;
    state.clone()->each_tensor([&](const char*, Tensor& t, bool) { out.push_back(t); });
    return out;
  };
  const auto same = [](const Tensor& x, const Tensor& y) {
    return x.defined() && y.defined() ? x.dtype() == y.dtype() && x.equal(y) : x.defined() == y.defined();
  };
  if (typeid(a) != typeid(b) || a.step_count() != b.step_count()) return false;
  const std::vector<Tensor> x = tensors(a), y = tensors(b);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), same);
}

std::unique_ptr<OptimizerParamState> Optimizer::make_state() const {
  ARGAND_THROW(NotImplementedError, "optimizer: this one has no state of parameters (make_state)");
}

OptimizerParamState& Optimizer::state_of(const Tensor& param) {
  const auto it = state_.find(param.unsafeGetTensorImpl());
  if (it != state_.end()) return *it->second;
  return *state_.emplace(param.unsafeGetTensorImpl(), make_state()).first->second;
}

Tensor Optimizer::run_closure(const LossClosure& closure) {
  if (!closure) return {};
  const EnableGradGuard on;
  return closure();
}

// ---- saving and loading

namespace {

// LibTorch before 1.5 saved no options, and a list of tensors for each part of the states, by the parameters' numbers.
struct OldName {
  const char *list, *part;
};
constexpr OldName kOldNames[] = {{"step_buffers", "step"},
                                 {"momentum_buffers", "momentum_buffer"},
                                 {"square_average_buffers", "square_avg"},
                                 {"grad_average_buffers", "grad_avg"},
                                 {"exp_average_buffers", "exp_avg"},
                                 {"exp_average_sq_buffers", "exp_avg_sq"},
                                 {"max_exp_average_sq_buffers", "max_exp_avg_sq"},
                                 {"sum_buffers", "sum"}};
// L-BFGS has one state for all parameters; the elements of its lists keep their positions.
constexpr const char* kOldNumbers[] = {"t", "prev_loss"};
constexpr const char* kOldTensors[] = {"d", "H_diag", "prev_flat_grad"};
constexpr const char* kOldLists[] = {"old_dirs", "old_stps"};

bool is_before_1_5(const StateDict& state) {
  const auto any_list = [&state](const auto& names, const auto& name_of) {
    return std::any_of(std::begin(names), std::end(names),
                       [&](const auto& n) { return state.contains(std::string(name_of(n)) + "/size"); });
  };
  return any_list(kOldNames, [](const OldName& n) { return n.list; }) ||
         any_list(kOldLists, [](const char* n) { return n; });
}

StateDict with_names_of_today(const StateDict& old, const StateDict& mine) {
  warn(
      "load: the optimizer's file has the old serialization format, of LibTorch before 1.5, without options: those of "
      "the optimizer stay.  Save it again to have them in the file.");
  StateDict out;
  for (const auto& item : mine)
    if (item.key().starts_with("param_groups.")) out.insert(item.key(), item.value());
  const auto each = [&old](const std::string& list, const auto& f) {
    const Tensor* size = old.find(list + "/size");
    for (int64_t i = 0; size && i < size->item<int64_t>(); ++i) {
      const Tensor* t = old.find(str(list, "/", i));
      ARGAND_CHECK(ValueError, t, "load: the optimizer's file has no entry ", list, "/", i);
      f(i, *t);
    }
  };
  std::set<int64_t> with_state, with_step;
  for (const OldName& n : kOldNames)
    each(n.list, [&](int64_t i, const Tensor& t) {
      const bool step = std::string_view(n.part) == "step";
      (step ? with_step : with_state).insert(i);
      out.insert(str("state.", i, ".", n.part), step ? t.to(kLong).reshape({}) : t);
    });
  const auto shared = [&](const char* name) { return str("state.0.", name); };
  for (const char* name : kOldNumbers)
    if (const Tensor* t = old.find(name)) out.insert(shared(name), t->to(kDouble).reshape({}));
  for (const char* name : kOldTensors)
    if (const Tensor* t = old.find(name)) out.insert(shared(name), *t);
  for (const char* name : kOldLists) {
    std::vector<Tensor> list;
    each(name, [&](int64_t, const Tensor& t) { list.push_back(t); });
    if (!list.empty()) out.insert(shared(name), stack(list, 0));
  }
  if (old.contains("prev_flat_grad")) {
    with_state.insert(0);
    out.insert(shared("func_evals"), full(IntArrayRef(), 0, kLong));
  }
  for (const int64_t i : with_state)
    if (!with_step.contains(i)) out.insert(str("state.", i, ".step"), full(IntArrayRef(), 0, kLong));
  return out;
}

}  // namespace

StateDict Optimizer::state_dict() const {
  auto& self = const_cast<Optimizer&>(*this);
  StateDict out;
  size_t index = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    self.groups_[g].options().each_number(
        [&](const char* name, double& value) { out.insert(str("param_groups.", g, ".", name), number(value)); });
    for (const Tensor& p : groups_[g].params()) {
      const auto it = self.state_.find(p.unsafeGetTensorImpl());
      if (it != self.state_.end()) {
        out.insert(str("state.", index, ".step"), full(IntArrayRef(), it->second->step_count(), kLong));
        it->second->each_tensor([&](const char* name, Tensor& t, bool) {
          if (t.defined()) out.insert(str("state.", index, ".", name), t.detach());
        });
      }
      ++index;
    }
  }
  return out;
}

void Optimizer::load_state_dict(const StateDict& state) {
  // New options and states are built separately and swapped in only when everything fits.
  std::vector<std::unique_ptr<OptimizerOptions>> options;
  OptimizerStates states;
  std::string problems;
  size_t used = 0, index = 0;
  const auto find = [&](const std::string& name) {
    const Tensor* t = state.find(name);
    used += t != nullptr;
    return t;
  };
  for (size_t g = 0; g < groups_.size(); ++g) {
    options.push_back(groups_[g].options().clone());
    options.back()->each_number([&](const char* name, double& value) {
      const std::string key = str("param_groups.", g, ".", name);
      const Tensor* t = find(key);
      if (!t)
        problems += "\n  missing: " + key;
      else if (t->numel() != 1)
        problems += str("\n  ", key, ": expected one number, got shape ", t->sizes());
      else
        value = t->item<double>();
    });
    for (const Tensor& p : groups_[g].params()) {
      const std::string prefix = str("state.", index++, ".");
      const Tensor* step = find(prefix + "step");
      if (!step) continue;
      auto fresh = make_state();
      const bool counts = step->numel() == 1 && step->dtype() == kLong && step->item<int64_t>() >= 0;
      if (counts)
        fresh->set_step_count(step->item<int64_t>());
      else
        problems +=
            str("\n  ", prefix, "step: expected one int64 >= 0, got ", step->dtype(), " of shape ", step->sizes());
      fresh->each_tensor([&](const char* name, Tensor& slot, bool required) {
        const Tensor* t = find(prefix + name);
        if (!t && required) problems += "\n  missing: " + prefix + name;
        if (!t) return;
        if (!fresh->is_shaped_as_parameter())
          slot = t->detach().to(t->dim() == 0 ? t->device() : p.device()).clone();
        else if (!(t->sizes() == p.sizes()))
          problems += str("\n  shape of ", prefix, name, ": expected ", p.sizes(), ", got ", t->sizes());
        else
          slot = t->detach().to(p.options()).clone();
      });
      states[p.unsafeGetTensorImpl()] = std::move(fresh);
    }
  }
  if (used != state.size()) problems += str("\n  ", state.size() - used, " entries belong to no parameter or option");
  ARGAND_CHECK(ValueError, problems.empty(),
               "load_state_dict: the state does not fit this optimizer; nothing was changed", problems);
  for (size_t g = 0; g < groups_.size(); ++g) groups_[g].set_options(std::move(options[g]));
  state_ = std::move(states);
}

namespace {

bool names_tensors(const OptimizerParamState& state) {
  bool any = false;
  state.clone()->each_tensor([&](const char*, Tensor&, bool) { any = true; });
  return any;
}

std::string group_key(size_t i) { return str("param_groups.", i); }
std::string state_key(size_t i) { return str("state.", i); }

}  // namespace

// User-defined options and states, which state_dict() does not know, are saved by their own functions for archives.
void Optimizer::save(serialize::OutputArchive& archive) const {
  for (const auto& item : state_dict()) archive.write(item.key(), item.value());
  size_t index = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (numbers_of(groups_[g].options()).empty()) {
      serialize::OutputArchive own;
      groups_[g].options().serialize(own);
      archive.write(group_key(g), own);
    }
    for (const Tensor& p : groups_[g].params()) {
      const auto it = state_.find(p.unsafeGetTensorImpl());
      if (it != state_.end() && !names_tensors(*it->second)) {
        serialize::OutputArchive own;
        it->second->serialize(own);
        archive.write(str(state_key(index), ".own"), own);
      }
      ++index;
    }
  }
}

void Optimizer::load(serialize::InputArchive& archive) {
  const StateDict all = archive.state_dict();
  if (is_before_1_5(all)) return load_state_dict(with_names_of_today(all, state_dict()));
  std::vector<std::unique_ptr<OptimizerOptions>> options(groups_.size());
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (!numbers_of(groups_[g].options()).empty()) continue;
    options[g] = groups_[g].options().clone();
    serialize::InputArchive own;
    if (archive.try_read(group_key(g), own)) options[g]->serialize(own);
  }
  const auto is_own = [&](const std::string& key) {
    for (size_t g = 0; g < groups_.size(); ++g)
      if (options[g] && key.starts_with(group_key(g) + ".")) return true;
    return key.starts_with("state.") && key.find(".own.") != std::string::npos;
  };
  StateDict known;
  for (const auto& item : all)
    if (!is_own(item.key())) known.insert(item.key(), item.value());
  load_state_dict(known);
  size_t index = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (options[g]) groups_[g].set_options(std::move(options[g]));
    for (const Tensor& p : groups_[g].params()) {
      serialize::InputArchive own;
      if (archive.try_read(str(state_key(index++), ".own"), own)) state_of(p).serialize(own);
    }
  }
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  optimizer.save(archive);
  return archive;
}
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer) {
  optimizer.load(archive);
  return archive;
}

}  // namespace argand::optim
