// The contract of optimizers besides their formulas: groups, states, messages.
#include "argand/optim/optimizer.h"

#include <gtest/gtest.h>

#include <sstream>

#include "argand/core/grad_mode.h"
#include "argand/kernels/step_rules.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/adadelta.h"
#include "argand/optim/adagrad.h"
#include "argand/optim/adam.h"
#include "argand/optim/adamax.h"
#include "argand/optim/lr_scheduler.h"
#include "argand/optim/nadam.h"
#include "argand/optim/radam.h"
#include "argand/optim/rmsprop.h"
#include "argand/optim/sgd.h"
#include "argand/serialize/archive.h"

namespace argand::optim {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor parameter(double value = 1, Dims sizes = {2}) { return full(sizes, value).requires_grad_(); }

// The message that `action` throws; empty if it does not throw.
template <class Action>
std::string message(Action action) {
  try {
    action();
  } catch (const Error& e) {
    return e.msg();
  }
  return "";
}

TEST(Optimizer, InvalidHyperParameters) {
  const std::vector<Tensor> p{parameter()};
  EXPECT_EQ(message([&] { SGD(p, SGDOptions(-0.1)); }), "Invalid learning rate: -0.1");
  EXPECT_EQ(message([&] { SGD(p, SGDOptions(kNan)); }), "Invalid learning rate: nan");
  EXPECT_EQ(message([&] { SGD(p, SGDOptions(0.1).momentum(-1)); }), "Invalid momentum value: -1");
  EXPECT_EQ(message([&] { SGD(p, SGDOptions(0.1).weight_decay(-2)); }), "Invalid weight_decay value: -2");
  const std::string nesterov = "Nesterov momentum requires a momentum and zero dampening";
  EXPECT_EQ(message([&] { SGD(p, SGDOptions(0.1).nesterov(true)); }), nesterov);
  EXPECT_EQ(message([&] { SGD(p, SGDOptions(0.1).nesterov(true).momentum(0.9).dampening(0.1)); }), nesterov);
  EXPECT_EQ(message([&] { Adam(p, AdamOptions(-1)); }), "Invalid learning rate: -1");
  EXPECT_EQ(message([&] { Adam(p, AdamOptions().eps(-1)); }), "Invalid epsilon value: -1");
  EXPECT_EQ(message([&] { Adam(p, AdamOptions().betas({1.0, 0.9})); }), "Invalid beta parameter at index 0: 1");
  EXPECT_EQ(message([&] { AdamW(p, AdamWOptions().betas({0.9, -0.5})); }), "Invalid beta parameter at index 1: -0.5");
  EXPECT_EQ(message([&] { AdamW(p, AdamWOptions().weight_decay(kNan)); }), "Invalid weight_decay value: nan");
  EXPECT_EQ(message([&] { RMSprop(p, RMSpropOptions().alpha(-1)); }), "Invalid alpha value: -1");
  EXPECT_EQ(message([&] { RMSprop(p, RMSpropOptions(0.1).momentum(-1)); }), "Invalid momentum value: -1");
  EXPECT_EQ(message([&] { Adagrad(p, AdagradOptions(-1)); }), "Invalid learning rate: -1");
  EXPECT_EQ(message([&] { Adagrad(p, AdagradOptions().initial_accumulator_value(-1)); }),
            "Invalid initial_accumulator_value value: -1");
  EXPECT_EQ(message([&] { Adagrad(p, AdagradOptions().eps(kNan)); }), "Invalid epsilon value: nan");
  EXPECT_EQ(message([&] { NAdam(p, NAdamOptions().betas({-0.5, 0.9})); }), "Invalid beta parameter at index 0: -0.5");
  EXPECT_EQ(message([&] { RMSprop(p, RMSpropOptions(-1)); }), "Invalid learning rate: -1");
  EXPECT_EQ(message([&] { Adadelta(p, AdadeltaOptions().rho(1.5)); }), "Invalid rho value: 1.5");
  EXPECT_EQ(message([&] { Adamax(p, AdamaxOptions().betas({1.0, 0.9})); }), "Invalid beta parameter at index 0: 1");
  EXPECT_EQ(message([&] { NAdam(p, NAdamOptions().momentum_decay(-1)); }), "Invalid momentum_decay value: -1");
  EXPECT_EQ(message([&] { RAdam(p, RAdamOptions().betas({0.9, 1.0})); }), "Invalid beta parameter at index 1: 1");
}

TEST(Optimizer, ParameterGroups) {
  const Tensor a = parameter(), b = parameter(), computed = a * 2;
  SGD sgd({a}, SGDOptions(0.5).momentum(0.9));
  EXPECT_EQ(message([&] {
              sgd.add_param_group(OptimizerParamGroup({b, a}));
            }),
            "some parameters appear in more than one parameter group");
  EXPECT_EQ(message([&] {
              sgd.add_param_group(OptimizerParamGroup({b, b}));
            }),
            "a parameter group contains duplicate parameters");
  EXPECT_EQ(message([&] { sgd.add_param_group(OptimizerParamGroup({computed})); }), "can't optimize a non-leaf Tensor");
  EXPECT_NE(message([&] { sgd.add_param_group(OptimizerParamGroup({Tensor()})); }), "");
  EXPECT_EQ(sgd.size(), 1u) << "a refused group leaves nothing behind";
  EXPECT_EQ(message([&] {
              SGD(std::vector<Tensor>{a, a}, SGDOptions(0.1));
            }),
            "a parameter group contains duplicate parameters");

  sgd.add_param_group(OptimizerParamGroup({b}));
  EXPECT_EQ(sgd.size(), 2u);
  EXPECT_EQ(sgd.param_groups()[1].options().get_lr(), 0.5) << "the defaults";
  sgd.param_groups()[1].options().set_lr(0.25);
  EXPECT_EQ(sgd.param_groups()[0].options().get_lr(), 0.5) << "a copy of them";
  EXPECT_NE(message([] { OptimizerParamGroup(std::vector<Tensor>{}).options(); }), "");
}

TEST(Optimizer, ParametersWithoutGradientStayAndGetNoState) {
  const Tensor a = parameter(), b = parameter();
  for (int kind = 0; kind < 3; ++kind) {
    std::unique_ptr<Optimizer> o;
    if (kind == 0) o = std::make_unique<SGD>(std::vector<Tensor>{a, b}, SGDOptions(0.1).momentum(0.9).weight_decay(1));
    if (kind == 1) o = std::make_unique<AdamW>(std::vector<Tensor>{a, b}, AdamWOptions(0.1));
    if (kind == 2) o = std::make_unique<RMSprop>(std::vector<Tensor>{a, b}, RMSpropOptions(0.1));
    o->zero_grad();
    (a * a).sum().backward();
    o->step();
    EXPECT_EQ(o->state().size(), 1u);
    EXPECT_EQ(b[0].item<double>(), 1.0);
    EXPECT_LT(a[0].item<double>(), 1.0);
  }
}

TEST(Optimizer, ZeroGrad) {
  Tensor a = parameter(), b = parameter();
  SGD sgd({a, b}, SGDOptions(0.1));
  (a * 3).sum().backward();
  const Tensor held = a.grad();
  sgd.zero_grad(false);
  EXPECT_TRUE(a.grad().defined());
  EXPECT_EQ(a.grad()[1].item<double>(), 0.0);
  EXPECT_EQ(held[1].item<double>(), 0.0) << "in place";
  EXPECT_FALSE(b.grad().defined());
  (a * 3).sum().backward();
  EXPECT_EQ(a.grad()[1].item<double>(), 3.0);
  sgd.zero_grad();
  EXPECT_FALSE(a.grad().defined());
}

TEST(Optimizer, ClosureRunsWithGradients) {
  const Tensor a = parameter(3);
  Adam adam({a}, AdamOptions(0.1));
  const NoGradGuard off;
  const Tensor loss = adam.step([&] {
    adam.zero_grad();
    Tensor l = (a * a).sum();
    l.backward();
    return l;
  });
  EXPECT_EQ(loss.item<double>(), 18.0);
  EXPECT_NEAR(a[0].item<double>(), 2.9, 1e-6);
  EXPECT_FALSE(adam.step().defined());
}

TEST(Optimizer, StepIsNotRecorded) {
  const Tensor a = parameter();
  SGD sgd({a}, SGDOptions(0.1));
  a.mul(2).sum().backward();
  sgd.step();
  EXPECT_TRUE(a.is_leaf());
  EXPECT_TRUE(a.requires_grad());
}

// A graph that needs the old value must not silently see the new one.
TEST(Optimizer, StepBetweenForwardAndBackwardIsAnError) {
  const Tensor a = parameter();
  SGD sgd({a}, SGDOptions(0.1));
  const Tensor loss = (a * a).sum();
  a.mul(2).sum().backward();
  sgd.step();
  EXPECT_NE(message([&] { loss.backward(); }).find("_fused_step_"), std::string::npos);
}

TEST(Optimizer, ComplexParametersAreTwoRealOnes) {
  const Tensor start = arange(12, kDouble).reshape({3, 2, 2}).sub(5.5), grad = start.sin();
  const auto ends = [&]<class Opt, class Options>(const Options& options) {
    std::vector<Tensor> out;
    for (const bool is_complex : {false, true}) {
      Tensor p = is_complex ? view_as_complex(start.clone()).t().contiguous().t() : start.clone();
      p.mutable_grad() = is_complex ? view_as_complex(grad.clone()) : grad;
      Opt optimizer({p}, options);
      optimizer.step();
      optimizer.step();
      out.push_back(is_complex ? view_as_real(p) : p);
    }
    return out[0].equal(out[1]);
  };
  EXPECT_TRUE((ends.operator()<Adam>(AdamOptions(0.1).amsgrad(true))));
  EXPECT_TRUE((ends.operator()<SGD>(SGDOptions(0.1).momentum(0.5))));
  EXPECT_TRUE((ends.operator()<Adagrad>(AdagradOptions(0.1).initial_accumulator_value(0.5))));
}

// The calls that their common op refuses before it changes anything.
TEST(Optimizer, WhatDoesNotFitARule) {
  const Tensor p = ones({2}), g = ones({2}), wrong = ones({3});
  const auto kSgd = static_cast<int64_t>(StepKind::kSgd), kMomentum = static_cast<int64_t>(StepKind::kSgdMomentum);
  const std::vector<double> three{1, 0, 0.5}, six{1, 0, 0.5, 0.9, 0, 0};
  const auto says = [&](const std::vector<Tensor>& grads, const std::vector<Tensor>& states, IntArrayRef rules,
                        IntArrayRef counts, const std::vector<double>& numbers) {
    return message([&] { _fused_step_({p}, grads, states, rules, counts, numbers); });
  };
  EXPECT_EQ(says({g}, {}, {99}, {1}, three), "_fused_step_: there is no rule 99");
  EXPECT_EQ(says({g}, {}, {kSgd}, {1, 1}, three), "_fused_step_: expected 1 counts, got 2");
  EXPECT_EQ(says({g}, {}, {kSgd}, {-1}, three), "_fused_step_: expected counts of at least 0, got -1");
  EXPECT_EQ(says({g}, {}, {kSgd}, {2}, three), "_fused_step_: expected 2 tensors in self, got 1");
  EXPECT_EQ(says({}, {}, {kSgd}, {1}, three), "_fused_step_: expected 1 tensors in grads, got 0");
  EXPECT_EQ(says({g}, {}, {kMomentum}, {1}, six), "_fused_step_: expected 1 tensors in states, got 0");
  EXPECT_EQ(says({g}, {}, {kSgd}, {1}, six), "_fused_step_: expected 3 numbers, got 6");
  EXPECT_EQ(says({wrong}, {}, {kSgd}, {1}, three), "_fused_step_: expected a gradient of shape [2], got [3]");
  EXPECT_EQ(says({g}, {g.to(kDouble)}, {kMomentum}, {1}, six),
            "_fused_step_: expected a state of dtype float32, got float64");
  EXPECT_EQ(p[1].item<double>(), 1);
  EXPECT_EQ(says({g}, {}, {kSgd}, {1}, three), "");
  EXPECT_EQ(p[1].item<double>(), 0.5);
}

class OptimizerState : public ::testing::Test {
 protected:
  OptimizerState() {
    (a_ * b_).sum().backward();
    adam_.step();
  }
  // The message of loading a changed copy of the state; everything must be as before.
  std::string load_changed(const std::function<void(StateDict&)>& change) {
    StateDict changed;
    for (const auto& item : adam_.state_dict()) changed.insert(item.key(), item.value().clone());
    change(changed);
    const auto text = [this] {
      std::string out;
      for (const auto& item : adam_.state_dict())
        out += str(item.key(), item.value().to(kDouble).sum().item<double>(), " ");
      return out;
    };
    const std::string before = text(), said = message([&] { adam_.load_state_dict(changed); });
    EXPECT_EQ(text(), before);
    return said;
  }
  static void replace(StateDict& state, const std::string& key, const Tensor& value) {
    state.erase(key);
    state.insert(key, value);
  }
  const Tensor a_ = parameter(1, {2, 3}), b_ = parameter(2, {2, 3});
  Adam adam_{{a_, b_}, AdamOptions(0.1)};
};

TEST_F(OptimizerState, Names) {
  std::string names;
  for (const auto& item : adam_.state_dict()) names += item.key() + " ";
  EXPECT_EQ(names,
            "param_groups.0.lr param_groups.0.beta1 param_groups.0.beta2 param_groups.0.eps "
            "param_groups.0.weight_decay param_groups.0.amsgrad param_groups.0.maximize state.0.step state.0.exp_avg "
            "state.0.exp_avg_sq state.1.step state.1.exp_avg state.1.exp_avg_sq ");
}

TEST_F(OptimizerState, WhatDoesNotFitChangesNothing) {
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has(load_changed([](StateDict& s) { s.erase("param_groups.0.eps"); }), "missing: param_groups.0.eps"));
  EXPECT_TRUE(has(load_changed([](StateDict& s) { s.insert("state.2.step", ones({})); }), "1 entries"));
  EXPECT_TRUE(has(load_changed([](StateDict& s) { replace(s, "state.1.exp_avg", zeros({3, 2})); }), "state.1.exp_avg"));
  EXPECT_TRUE(has(load_changed([](StateDict& s) { s.erase("state.1.exp_avg_sq"); }), "state.1.exp_avg_sq"));
  EXPECT_TRUE(has(load_changed([](StateDict& s) { replace(s, "param_groups.0.lr", ones({2})); }), "one number"));
  EXPECT_TRUE(has(load_changed([](StateDict& s) { replace(s, "state.0.step", full({}, kNan)); }), "state.0.step"));
  EXPECT_TRUE(has(load_changed([](StateDict& s) { replace(s, "state.0.step", full({}, -1, kLong)); }), "state.0.step"));
  // All that is wrong is named at once.
  const std::string two = load_changed([](StateDict& s) {
    s.erase("param_groups.0.eps");
    replace(s, "state.0.exp_avg", zeros({1}));
  });
  EXPECT_TRUE(has(two, "param_groups.0.eps") && has(two, "state.0.exp_avg"));
}

TEST_F(OptimizerState, LoadedTensorsAreCopies) {
  Adam other({a_, b_}, AdamOptions(0.5));
  other.load_state_dict(adam_.state_dict());
  a_.mutable_grad().fill_(7);
  other.step();
  const Tensor mine = *adam_.state_dict().find("state.0.exp_avg"), its = *other.state_dict().find("state.0.exp_avg");
  EXPECT_NE(mine[0][0].item<double>(), its[0][0].item<double>());
}

TEST(Optimizer, OptionsAndStatesCompare) {
  EXPECT_TRUE(AdamOptions(0.1) == AdamOptions(0.1));
  EXPECT_FALSE(AdamOptions(0.1) == AdamOptions(0.1).eps(1e-3));
  EXPECT_FALSE(static_cast<const OptimizerOptions&>(AdamOptions(0.1)) == AdamWOptions(0.1));
  AdamParamState a, b;
  a.exp_avg(ones({2}));
  EXPECT_FALSE(a == b);
  b.exp_avg(ones({2}));
  EXPECT_TRUE(a == b);
  b.step(1);
  EXPECT_FALSE(a == b);
}

// As a program writes its own: options without names for their numbers, and no state.
struct MineOptions : OptimizerCloneableOptions<MineOptions> {
  MineOptions(double lr = 1) : lr_(lr) {}
  ARGAND_ARG(double, lr);
};
struct Mine : Optimizer {
  Mine(std::vector<Tensor> parameters, MineOptions defaults)
      : Optimizer({OptimizerParamGroup(std::move(parameters))}, std::make_unique<MineOptions>(defaults)) {}
  Tensor step(LossClosure closure = nullptr) override {
    const Tensor loss = run_closure(closure);
    const NoGradGuard no_grad;
    for (Tensor& p : param_groups()[0].params()) p.sub_(param_groups()[0].options().get_lr());
    return loss;
  }
  using Optimizer::state_of;
};

TEST(Optimizer, OfOnesOwn) {
  const Tensor p = parameter(3);
  Mine optimizer({p}, MineOptions(0.5));
  optimizer.step();
  EXPECT_EQ(p[0].item<float>(), 2.5);
  EXPECT_TRUE(std::as_const(optimizer).state().empty());
  EXPECT_THROW(optimizer.state_of(p), NotImplementedError);
}

// ---- what a group has not set

TEST(Optimizer, WhatAGroupHasNotSetIsTheOptimizers) {
  const Tensor a = parameter(), b = parameter(), c = parameter(), d = parameter();
  std::vector<OptimizerParamGroup> groups;
  const auto add = [&](const Tensor& p, const AdamOptions& o) {
    groups.emplace_back(std::vector<Tensor>{p}, o.clone());
  };
  add(a, AdamOptions().weight_decay(0.11));
  add(b, AdamOptions(0.25).betas({0.5, 0.999}));
  add(c, AdamOptions(1e-3).eps(1e-8).weight_decay(0));  // set, though each is what nobody needs to set
  Adam adam(groups, AdamOptions(0.5).eps(1e-4).weight_decay(0.2).betas({0.8, 0.9}));
  adam.add_param_group(OptimizerParamGroup({d}));
  const auto of = [&](size_t i) { return static_cast<const AdamOptions&>(adam.param_groups()[i].options()); };
  EXPECT_EQ(of(0).lr(), 0.5);
  EXPECT_EQ(of(0).weight_decay(), 0.11);
  EXPECT_EQ(of(0).eps(), 1e-4);
  EXPECT_EQ(of(1).lr(), 0.25);
  EXPECT_EQ(of(1).betas(), (AdamOptions::betas_t{0.5, 0.999}));
  EXPECT_EQ(of(1).weight_decay(), 0.2);
  EXPECT_EQ(of(2).lr(), 1e-3);
  EXPECT_EQ(of(2).eps(), 1e-8);
  EXPECT_EQ(of(2).weight_decay(), 0);
  EXPECT_EQ(of(2).betas(), (AdamOptions::betas_t{0.8, 0.9}));
  EXPECT_EQ(of(3).lr(), 0.5);
  std::vector<OptimizerParamGroup> sgd_groups;
  SGDOptions by_reference(0.1);
  by_reference.momentum() = 0.5;
  sgd_groups.emplace_back(std::vector<Tensor>{parameter()}, by_reference.clone());
  SGD sgd(sgd_groups, SGDOptions(1).momentum(0.9).weight_decay(0.3));
  const auto& o = static_cast<const SGDOptions&>(sgd.param_groups()[0].options());
  EXPECT_EQ(o.lr(), 0.1);
  EXPECT_EQ(o.momentum(), 0.5);
  EXPECT_EQ(o.weight_decay(), 0.3);
}

// Options and a state of a program's own, which it writes to archives itself.
struct OwnOptions : OptimizerCloneableOptions<OwnOptions> {
  ARGAND_ARG(double, lr) = 1e-3;
  ARGAND_ARG(double, power) = 2;

 public:
  void serialize(argand::serialize::InputArchive& archive) override {
    Tensor t;
    archive.read("power", t);
    power(t.item<double>());
  }
  void serialize(argand::serialize::OutputArchive& archive) const override {
    archive.write("power", full(IntArrayRef(), power(), kDouble));
  }
};
struct OwnState : OptimizerCloneableParamState<OwnState> {
  ARGAND_ARG(Tensor, sum);

 public:
  void serialize(argand::serialize::InputArchive& archive) override { archive.read("sum", sum()); }
  void serialize(argand::serialize::OutputArchive& archive) const override { archive.write("sum", sum()); }
};
struct OwnOptimizer : Optimizer {
  OwnOptimizer(const Tensor& p, const OwnOptions& o) : Optimizer({OptimizerParamGroup({p})}, o.clone()) {}
  Tensor step(LossClosure closure = nullptr) override { return run_closure(closure); }
  OwnState& mine(const Tensor& p) { return static_cast<OwnState&>(state_of(p)); }
  StatePtr make_state() const override { return StatePtr(new OwnState); }
};

TEST(Optimizer, OptionsOfOnesOwnGoThroughArchives) {
  const Tensor p = parameter();
  OwnOptimizer saved(p, OwnOptions().power(3)), loaded(p, OwnOptions());
  saved.mine(p).sum(full({2}, 7));
  std::stringstream stream;
  serialize::OutputArchive out;
  saved.save(out);
  out.save_to(stream);
  serialize::InputArchive in;
  in.load_from(stream);
  loaded.load(in);
  EXPECT_EQ(static_cast<const OwnOptions&>(loaded.param_groups()[0].options()).power(), 3);
  EXPECT_TRUE(loaded.mine(p).sum().equal(full({2}, 7)));
}

TEST(Optimizer, OptionsAndStatesGoThroughArchivesByThemselves) {
  AdamOptions options(0.5), other;
  options.betas({0.25, 0.5}).amsgrad(true);
  AdamParamState state, again;
  state.step(3);
  state.exp_avg(full({2}, 1)).exp_avg_sq(full({2}, 2));
  serialize::OutputArchive out, of_state;
  options.serialize(out);
  state.serialize(of_state);
  out.write("state", of_state);
  std::stringstream stream;
  out.save_to(stream);
  serialize::InputArchive in, in_state;
  in.load_from(stream);
  other.serialize(in);
  in.read("state", in_state);
  again.serialize(in_state);
  EXPECT_TRUE(options == other);
  EXPECT_TRUE(state == again);
}

}  // namespace
}  // namespace argand::optim
