#include "argand/optim/lr_scheduler.h"

#include <gtest/gtest.h>

#include <cmath>

#include "argand/ops/functions.h"
#include "argand/optim/record_test.h"
#include "argand/optim/sgd.h"

namespace argand::optim {
namespace {

using namespace testing;

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

class Rates {
 public:
  explicit Rates(const SchedulerCase& c) : case_(c), optimizer_(groups(), SGDOptions(1)) {}

  Numbers now() const {
    Numbers out;
    for (const OptimizerParamGroup& g : optimizer_.param_groups()) out.push_back(g.options().get_lr());
    return out;
  }
  double number(const char* name, double otherwise) const {
    const auto it = case_.settings.find(name);
    return it == case_.settings.end() ? otherwise : std::stod(it->second);
  }
  int64_t integer(const char* name, int64_t otherwise) const {
    return static_cast<int64_t>(number(name, static_cast<double>(otherwise)));
  }
  template <class T>
  std::vector<T> list(const char* name) const {
    std::vector<T> out;
    std::istringstream in(case_.settings.at(name));
    for (std::string word; std::getline(in, word, ',');) out.push_back(static_cast<T>(std::stod(word)));
    return out;
  }
  std::string word(const char* name) const {
    const auto it = case_.settings.find(name);
    return it == case_.settings.end() ? "" : it->second;
  }
  std::unique_ptr<LRScheduler> scheduler() {
    if (case_.name == "StepLR")
      return std::make_unique<StepLR>(optimizer_, integer("step_size", 0), number("gamma", 0.1));
    if (case_.name == "MultiStepLR")
      return std::make_unique<MultiStepLR>(optimizer_, list<int64_t>("milestones"), number("gamma", 0.1));
    if (case_.name == "CosineAnnealingLR")
      return std::make_unique<CosineAnnealingLR>(optimizer_, integer("T_max", 0), number("eta_min", 0));
    if (case_.name == "LinearLR")
      return std::make_unique<LinearLR>(optimizer_, number("start_factor", 1.0 / 3), number("end_factor", 1),
                                        integer("total_iters", 5));
    if (case_.name == "ExponentialLR") return std::make_unique<ExponentialLR>(optimizer_, number("gamma", 0));
    if (case_.name == "PolynomialLR")
      return std::make_unique<PolynomialLR>(optimizer_, integer("total_iters", 5), number("power", 1));
    if (case_.name == "CosineAnnealingWarmRestarts")
      return std::make_unique<CosineAnnealingWarmRestarts>(optimizer_, integer("T_0", 0), integer("T_mult", 1),
                                                           number("eta_min", 0));
    if (case_.name == "CyclicLR") {
      using Mode = CyclicLR::Mode;
      const std::string mode = word("mode");
      return std::make_unique<CyclicLR>(optimizer_, number("base_lr", 0), number("max_lr", 0),
                                        integer("step_size_up", 2000), integer("step_size_down", 0),
                                        mode == "triangular2" ? Mode::kTriangular2
                                        : mode == "exp_range" ? Mode::kExpRange
                                                              : Mode::kTriangular,
                                        number("gamma", 1));
    }
    if (word("of") == "power_and_inverse")
      return std::make_unique<LambdaLR>(
          optimizer_, std::vector<LambdaLR::Lambda>{[](int64_t t) { return std::pow(0.9, static_cast<double>(t)); },
                                                    [](int64_t t) { return 1 / (1 + static_cast<double>(t)); }});
    if (word("of") == "linear_exponential_step") {
      std::vector<std::shared_ptr<LRScheduler>> parts{std::make_shared<LinearLR>(optimizer_, 0.1, 1.0, 4),
                                                      std::make_shared<ExponentialLR>(optimizer_, 0.8),
                                                      std::make_shared<StepLR>(optimizer_, 3, 0.5)};
      return std::make_unique<SequentialLR>(optimizer_, parts, std::vector<int64_t>{4, 11});
    }
    EXPECT_EQ(case_.name, "OneCycleLR");
    return std::make_unique<OneCycleLR>(optimizer_, number("max_lr", 0), integer("total_steps", 0),
                                        number("pct_start", 0.3), number("div_factor", 25),
                                        number("final_div_factor", 1e4));
  }
  ReduceLROnPlateau plateau() {
    using P = ReduceLROnPlateau;
    return P(optimizer_, word("mode") == "max" ? P::Mode::kMax : P::Mode::kMin, number("factor", 0.1),
             integer("patience", 10), number("threshold", 1e-4),
             word("threshold_mode") == "abs" ? P::ThresholdMode::kAbs : P::ThresholdMode::kRel, integer("cooldown", 0),
             number("min_lr", 0), number("eps", 1e-8));
  }
  void expect(size_t step) const {
    const Numbers have = now();
    for (size_t g = 0; g < 2; ++g) {
      const double expected = case_.rates.at(2 * step + g);
      EXPECT_NEAR(have[g], expected, 1e-12 * std::abs(expected)) << case_.text << ", step " << step << ", group " << g;
    }
  }
  size_t steps() const { return case_.rates.size() / 2; }

 private:
  static std::vector<OptimizerParamGroup> groups() {
    std::vector<OptimizerParamGroup> out;
    for (const double lr : {0.5, 0.125})
      out.emplace_back(std::vector<Tensor>{zeros({1}).requires_grad_()}, std::make_unique<SGDOptions>(lr));
    return out;
  }
  const SchedulerCase& case_;
  SGD optimizer_;
};

TEST(Schedule, AsRecorded) {
  for (const SchedulerCase& c : record().schedulers) {
    if (c.name == "ReduceLROnPlateau") continue;
    Rates rates(c);
    const auto scheduler = rates.scheduler();
    rates.expect(0);
    for (size_t step = 1; step < rates.steps(); ++step) {
      scheduler->step();
      rates.expect(step);
      EXPECT_EQ(scheduler->get_last_lr(), rates.now());
    }
  }
}

TEST(Schedule, ResumedAtEveryStep) {
  for (const SchedulerCase& c : record().schedulers) {
    if (c.name == "ReduceLROnPlateau") continue;
    Rates whole(c);
    const auto scheduler = whole.scheduler();
    for (size_t step = 0; step < whole.steps(); ++step, scheduler->step()) {
      Rates again(c);
      const auto resumed = again.scheduler();
      resumed->load_state_dict(scheduler->state_dict());
      EXPECT_EQ(again.now(), whole.now()) << "the same bits";
      if (step + 1 == whole.steps()) break;
    }
  }
}

TEST(Schedule, PlateausAsRecorded) {
  for (const SchedulerCase& c : record().schedulers) {
    if (c.name != "ReduceLROnPlateau") continue;
    Rates rates(c);
    auto scheduler = rates.plateau();
    const Numbers metric = rates.list<double>("metric");
    rates.expect(0);
    for (size_t step = 0; step < metric.size(); ++step) {
      auto resumed = rates.plateau();  // goes on from the state alone
      resumed.load_state_dict(scheduler.state_dict());
      resumed.step(metric[step]);
      scheduler.load_state_dict(resumed.state_dict());
      rates.expect(step + 1);
    }
  }
}

TEST(Scheduler, InvalidArguments) {
  SGD sgd({parameter()}, SGDOptions(0.1));
  EXPECT_NE(message([&] { StepLR(sgd, 0); }).find("step_size"), std::string::npos);
  EXPECT_NE(message([&] { CosineAnnealingLR(sgd, -1); }).find("T_max"), std::string::npos);
  EXPECT_NE(message([&] { LinearLR(sgd, 0); }).find("start_factor"), std::string::npos);
  EXPECT_NE(message([&] { LinearLR(sgd, 0.5, 2); }).find("end_factor"), std::string::npos);
  EXPECT_NE(message([&] { OneCycleLR(sgd, 0.1, 0); }).find("total_steps"), std::string::npos);
  EXPECT_NE(message([&] { OneCycleLR(sgd, 0.1, 10, 1.5); }).find("pct_start"), std::string::npos);
  EXPECT_NE(message([&] { PolynomialLR(sgd, 0); }).find("total_iters"), std::string::npos);
  EXPECT_NE(message([&] { CosineAnnealingWarmRestarts(sgd, 0); }).find("T_0"), std::string::npos);
  EXPECT_NE(message([&] { CosineAnnealingWarmRestarts(sgd, 3, 0); }).find("T_mult"), std::string::npos);
  EXPECT_NE(message([&] { CyclicLR(sgd, 0.1, 0.2, 0); }).find("step_size_up"), std::string::npos);
  EXPECT_NE(message([&] { CyclicLR(sgd, 0.1, 0.2, 1, -1); }).find("step_size_down"), std::string::npos);
  EXPECT_NE(message([&] { LambdaLR(sgd, std::vector<LambdaLR::Lambda>(2)); }).find("expected 1"), std::string::npos);
  EXPECT_NE(message([&] { LambdaLR(sgd, LambdaLR::Lambda()); }).find("is empty"), std::string::npos);
  EXPECT_NE(message([&] { SequentialLR(sgd, {}, {}); }).find("at least one"), std::string::npos);
  EXPECT_NE(message([&] { SequentialLR(sgd, {nullptr}, {}); }).find("is null"), std::string::npos);
  EXPECT_NE(message([&] { SequentialLR(sgd, {std::make_shared<StepLR>(sgd, 1)}, {3}); }).find("0 milestones"),
            std::string::npos);
  EXPECT_EQ(message([&] { ReduceLROnPlateau(sgd, ReduceLROnPlateau::Mode::kMin, 1.0); }),
            "ReduceLROnPlateau: factor should be < 1.0, got 1");
  EXPECT_EQ(sgd.param_groups()[0].options().get_lr(), 0.1) << "a refused scheduler changes no rate";
}

TEST(Scheduler, BeyondItsEndAndOtherGroups) {
  SGD sgd({parameter()}, SGDOptions(0.1));
  OneCycleLR cycle(sgd, 0.1, 3);
  for (int i = 0; i < 3; ++i) cycle.step();
  EXPECT_NE(message([&] { cycle.step(); }).find("total_steps is 3"), std::string::npos);
  SGD grown({parameter()}, SGDOptions(0.1));
  StepLR step(grown, 2);
  grown.add_param_group(OptimizerParamGroup({parameter()}));
  EXPECT_NE(message([&] { step.step(); }).find("2"), std::string::npos);
}

TEST(Scheduler, StateThatDoesNotFit) {
  SGD sgd({parameter()}, SGDOptions(0.1));
  StepLR step(sgd, 2);
  step.step();
  StateDict state = step.state_dict();
  state.erase("base_lrs.0");
  EXPECT_NE(message([&] { step.load_state_dict(state); }).find("base_lrs.0"), std::string::npos);
  state = step.state_dict();
  state.insert("base_lrs.1", ones({}, kDouble));
  EXPECT_NE(message([&] { step.load_state_dict(state); }).find("entries"), std::string::npos);
  EXPECT_NE(message([&] { step.set_last_epoch(int64_t{1} << 32); }).find("from 0 to 2^32 - 1"), std::string::npos);
  EXPECT_EQ(step.last_epoch(), 1);
}

// Phases without length: no NaN.
TEST(Scheduler, OneCycleAtItsEdges) {
  for (const double pct_start : {0.0, 0.1, 1.0}) {
    SGD sgd({parameter()}, SGDOptions(0.1));
    OneCycleLR cycle(sgd, 0.8, 10, pct_start);
    double highest = 0;
    for (int i = 0; i < 10; ++i, cycle.step()) highest = std::max(highest, cycle.get_last_lr()[0]);
    EXPECT_LE(highest, 0.8);
    EXPECT_GE(cycle.get_last_lr()[0], 0) << pct_start;
  }
}

}  // namespace
}  // namespace argand::optim
