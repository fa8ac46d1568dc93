// The base of optimizers, with LibTorch's names: parameter groups, each with options of its own, and per-parameter
// state.
//
//   optim::Adam optimizer(model->parameters(), optim::AdamOptions(1e-3));
//   optimizer.zero_grad();  loss.backward();  optimizer.step();
#pragma once
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <unordered_map>

#include "argand/base/arg.h"
#include "argand/core/state_dict.h"

namespace argand::serialize {
class InputArchive;
class OutputArchive;
}  // namespace argand::serialize

namespace argand::optim {

// The state that an optimizer keeps for one parameter: named tensors and one counter.
class OptimizerParamState {
 public:
  virtual ~OptimizerParamState() = default;
  virtual std::unique_ptr<OptimizerParamState> clone() const = 0;
  // Calls f(name, tensor, required) for each tensor that the state can have, defined or not; a saved state without a
  // required one is rejected.
  virtual void each_tensor(const std::function<void(const char*, Tensor&, bool)>&) {}
  virtual int64_t step_count() const { return 0; }
  virtual void set_step_count(int64_t) {}
  // Saves into and loads from an archive, by each_tensor() and step_count().  A state type of a program's own that
  // names no tensors is saved by its own override of these.
  virtual void serialize(argand::serialize::InputArchive& archive);
  virtual void serialize(argand::serialize::OutputArchive& archive) const;
  // False if the tensors need not have the parameter's shape and dtype: a saved state is then loaded as it is.
  virtual bool is_shaped_as_parameter() const { return true; }
};

class OptimizerOptions {
 public:
  virtual ~OptimizerOptions() = default;
  virtual std::unique_ptr<OptimizerOptions> clone() const = 0;
  virtual double get_lr() const = 0;
  virtual void set_lr(double lr) = 0;
  // Calls f(name, value) for every number; f may change the value.  Options not named here are saved by serialize().
  virtual void each_number(const std::function<void(const char*, double&)>&) {}
  // Saves into and loads from an archive, by each_number().
  virtual void serialize(argand::serialize::InputArchive& archive);
  virtual void serialize(argand::serialize::OutputArchive& archive) const;
  // The options of a group that gave these: `defaults`, with what was set here.  Set is what a setter was called for,
  // whatever its value, and what differs from options that were made without arguments.  A copy of these where
  // `defaults` are of another type, or each_number() names nothing.
  std::unique_ptr<OptimizerOptions> over(const OptimizerOptions& defaults) const;

 protected:
  // Options of this type with nothing set; null if the type has none.
  virtual std::unique_ptr<OptimizerOptions> untouched() const { return nullptr; }
  void note_set(const char* name) { set_.push_back(name); }
  // For each_number(): a flag as the number 0 or 1.
  static void each_flag(const char* name, bool& flag, const std::function<void(const char*, double&)>& f) {
    double value = flag;
    f(name, value);
    flag = value != 0;
  }

 private:
  bool is_set(const char* number) const;
  std::vector<const char*> set_;
};

// As ARGAND_ARG, for an optimizer's options, which remember which of them were set.
#define ARGAND_OPTION(T, name)                                    \
 public:                                                          \
  inline auto name(T value)->decltype(*this) { /* NOLINT */       \
    this->name##_ = std::move(value);                             \
    this->note_set(#name);                                        \
    return *this;                                                 \
  }                                                               \
  inline const T& name() const noexcept { return this->name##_; } \
  inline T& name() noexcept { return this->name##_; }             \
                                                                  \
 private:                                                         \
  T name##_ /* NOLINT */

// Whether both are of one type and have the same numbers.
bool operator==(const OptimizerOptions& a, const OptimizerOptions& b);
// Whether both are of one type and have the same steps and equal tensors.
bool operator==(const OptimizerParamState& a, const OptimizerParamState& b);

// The parts of options and states that are the same for every optimizer.  No unique_ptr of a type of its own: each
// would cost a program that includes this 0.4 MB of its compiler's memory.
template <class Derived>
class OptimizerCloneableOptions : public OptimizerOptions {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::unique_ptr<OptimizerOptions>(new Derived(static_cast<const Derived&>(*this)));
  }
  double get_lr() const override { return static_cast<const Derived&>(*this).lr(); }
  void set_lr(double lr) override { static_cast<Derived&>(*this).lr(lr); }

 protected:
  std::unique_ptr<OptimizerOptions> untouched() const override {
    if constexpr (std::is_default_constructible_v<Derived>)
      return std::unique_ptr<OptimizerOptions>(new Derived());
    else if constexpr (std::is_constructible_v<Derived, double>)
      return std::unique_ptr<OptimizerOptions>(new Derived(get_lr()));
    else
      return nullptr;
  }
};
template <class Derived>
class OptimizerCloneableParamState : public OptimizerParamState {
 public:
  std::unique_ptr<OptimizerParamState> clone() const override {
    return std::unique_ptr<OptimizerParamState>(new Derived(static_cast<const Derived&>(*this)));
  }
};

// A state that counts steps.
template <class Derived>
class CountingParamState : public OptimizerCloneableParamState<Derived> {
 public:
  int64_t step_count() const override { return step_; }
  void set_step_count(int64_t n) override { step_ = n; }
  ARGAND_ARG(int64_t, step) = 0;
};

// ValueError in PyTorch's words: a number of the options below 0 or NaN, a beta outside [0, 1).
void check_numbers(OptimizerOptions& options);
void check_betas(const std::tuple<double, double>& betas);

class OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options)
      : params_(std::move(params)), options_(std::move(options)) {}
  OptimizerParamGroup(const OptimizerParamGroup& o)
      : params_(o.params_), options_(o.options_ ? o.options_->clone() : nullptr) {}
  OptimizerParamGroup& operator=(const OptimizerParamGroup& o) {
    params_ = o.params_;
    options_ = o.options_ ? o.options_->clone() : nullptr;
    return *this;
  }
  OptimizerParamGroup(OptimizerParamGroup&&) = default;
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) = default;

  bool has_options() const { return options_ != nullptr; }
  OptimizerOptions& options();
  const OptimizerOptions& options() const { return const_cast<OptimizerParamGroup*>(this)->options(); }
  void set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }

 private:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
};

// The states by the address of the parameter's TensorImpl, or by that address as text, as programs for LibTorch before
// 2.0 use it.
class OptimizerStates : public std::unordered_map<void*, std::unique_ptr<OptimizerParamState>> {
 public:
  using unordered_map::operator[];
  using unordered_map::at;
  using unordered_map::find;
  mapped_type& operator[](const std::string& address) { return operator[](parse(address)); }
  mapped_type& at(const std::string& address) { return at(parse(address)); }
  const mapped_type& at(const std::string& address) const { return at(parse(address)); }
  iterator find(const std::string& address) { return find(parse(address)); }
  const_iterator find(const std::string& address) const { return find(parse(address)); }

 private:
  static void* parse(const std::string& address);  // ValueError if it is none
};

class Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;

  // Groups without options get a copy of `defaults`; options that a group has not set come from `defaults`, too.
  Optimizer(const std::vector<OptimizerParamGroup>& groups, std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  // ValueError if a parameter is there twice, in this group or another; GradError if it is not a leaf.
  void add_param_group(const OptimizerParamGroup& group);
  // Updates every parameter that has a gradient.  A closure first recomputes the loss, with gradients enabled.  If it
  // throws, the optimizers of this library leave all groups and states as they were.
  virtual Tensor step(LossClosure closure = nullptr) = 0;
  void zero_grad(bool set_to_none = true);

  const OptimizerOptions& defaults() const { return *defaults_; }
  OptimizerOptions& defaults() { return *defaults_; }
  std::vector<OptimizerParamGroup>& param_groups() { return groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const { return groups_; }
  OptimizerStates& state() { return state_; }
  const OptimizerStates& state() const { return state_; }
  // LibTorch's first interface, which warns: all groups' parameters, their number, and how to add to the first group.
  size_t size() const;
  std::vector<Tensor> parameters() const;
  void add_parameters(const std::vector<Tensor>& parameters);

  // Everything a resumed run needs: "state.3.exp_avg", "state.3.step", "param_groups.0.lr", ...  Parameters are
  // numbered in order over all groups.  Tensors share memory with the optimizer.
  StateDict state_dict() const;
  // Checks the whole state first; after a ValueError nothing has changed.
  void load_state_dict(const StateDict& state);
  // The same for an archive.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);

 protected:
  // The state of a parameter, made if missing.
  OptimizerParamState& state_of(const Tensor& param);
  using StatePtr = std::unique_ptr<OptimizerParamState>;
  // An optimizer without state need not have it: NotImplementedError.
  virtual StatePtr make_state() const;
  Tensor run_closure(const LossClosure& closure);

 private:
  std::vector<OptimizerParamGroup> groups_;
  std::unique_ptr<OptimizerOptions> defaults_;
  OptimizerStates state_;
};

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Optimizer& optimizer);
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer);

}  // namespace argand::optim
