// GradScaler beside torch.amp.GradScaler (tests/data/grad_scaler_trajectory.txt, which make_grad_scaler_trajectory.py
// writes), its report, its errors and its state; on a GPU too where there is one.
#include "argand/optim/grad_scaler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "argand/exec/autocast.h"
#include "argand/nn/nn.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/sgd.h"
#include "argand/runtime/backend.h"

namespace argand::amp {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();

// The tests that have no values of their own run on every device there is.
class GradScalerTest : public testing::TestWithParam<DeviceType> {
 protected:
  void SetUp() override {
    if (GetParam() == kCPU) return;
    std::string why;
    if (!find_backend(kCUDA, &why)) GTEST_SKIP() << why;
    if (std::getenv("ARGAND_CUDA_DRY_RUN")) GTEST_SKIP() << "a pretended device computes nothing";
  }
  TensorOptions options() const { return TensorOptions(kFloat).device(GetParam()); }
  Tensor parameter(IntArrayRef sizes) const { return ones(sizes, options()).set_requires_grad(true); }
  Tensor numbers(std::initializer_list<float> values) const { return tensor(std::vector<float>(values)).to(options()); }
};
INSTANTIATE_TEST_SUITE_P(Devices, GradScalerTest, testing::Values(kCPU, kCUDA),
                         [](const auto& info) { return std::string(device_type_name(info.param)); });

using optim::SGD;
using optim::SGDOptions;

void set_gradient(const Tensor& p, const Tensor& g) { p.mutable_grad() = g; }
double value(const Tensor& t, int64_t i = 0) { return t.reshape({-1})[i].item<double>(); }

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const ValueError& e) {
    return e.what();
  }
  return "no error";
}
#define EXPECT_ERROR(statement, part)                        \
  do {                                                       \
    const std::string error = error_of([&] { statement; });  \
    EXPECT_NE(error.find(part), std::string::npos) << error; \
  } while (false)

// ---- beside PyTorch

std::vector<double> read_numbers(std::istream& in) {
  std::vector<double> out;
  for (std::string word; in >> word && word != ";";) out.push_back(std::stod(word));  // inf and nan too
  return out;
}

TEST_P(GradScalerTest, FollowsPyTorch) {
  std::ifstream file("tests/data/grad_scaler_trajectory.txt");
  std::optional<GradScaler> scaler;
  std::optional<SGD> optimizer;
  std::vector<Tensor> params;
  int steps = 0;
  for (std::string line, kind; std::getline(file, line);) {
    SCOPED_TRACE(line);
    std::istringstream in(line);
    in >> kind;
    const std::vector<double> given = read_numbers(in);
    if (kind == "scaler") {
      scaler.emplace(
          GradScalerOptions().init_scale(given[0]).growth_factor(given[1]).backoff_factor(given[2]).growth_interval(
              static_cast<int64_t>(given[3])));
      params = {parameter({2}), parameter({2})};
      optimizer.emplace(params, SGDOptions(0.5).momentum(0.9));
      continue;
    }
    const std::vector<double> expected = read_numbers(in);
    optimizer->zero_grad();
    Tensor loss = zeros(IntArrayRef(), options());
    const Tensor factors = tensor(given).to(options());
    for (int64_t i = 0; i < 2; ++i) loss = loss + (params[static_cast<size_t>(i)] * factors.narrow(0, 2 * i, 2)).sum();
    scaler->scale(loss).backward();
    scaler->step(*optimizer);
    scaler->update();
    EXPECT_EQ(scaler->get_scale(), expected[0]);
    EXPECT_EQ(scaler->state_dict()["_growth_tracker"].item<double>(), expected[1]);
    for (int64_t i = 0; i < 4; ++i)
      EXPECT_FLOAT_EQ(static_cast<float>(value(params[static_cast<size_t>(i / 2)], i % 2)),
                      static_cast<float>(expected[static_cast<size_t>(2 + i)]));
    ++steps;
  }
  EXPECT_GT(steps, 30) << "tests/data/grad_scaler_trajectory.txt";
}

// ---- the report

TEST_P(GradScalerTest, TheReportNamesTheFirstBadGradient) {
  nn::Linear first(4, 3), second(3, 2);
  nn::Sequential net(first, second);
  net->to(Device(GetParam()));
  optim::OptimizerParamGroup a({first->weight, first->bias}), b({second->weight, second->bias});
  SGD optimizer({a, b}, SGDOptions(0.1));
  GradScaler scaler;
  const auto step_with = [&](float second_weight, float second_bias) {
    optimizer.zero_grad();
    for (const Tensor& p : net->parameters()) set_gradient(p, ones_like(p));
    scaler.scale(ones(IntArrayRef(), options()));
    second->weight.mutable_grad()[1][2].fill_(second_weight);
    second->bias.mutable_grad()[0].fill_(second_bias);
    const StepReport report = scaler.step(optimizer);
    scaler.update();
    return report;
  };
  const Tensor before = second->weight.detach().clone();
  StepReport report = step_with(kNaN, kInf);
  EXPECT_FALSE(report.stepped);
  ASSERT_TRUE(report.first);
  EXPECT_EQ(report.first->index, 2U);
  EXPECT_EQ(report.first->group, 1U);
  EXPECT_EQ(report.first->position, 0U);
  EXPECT_TRUE(report.first->parameter.is_same(second->weight));
  EXPECT_TRUE(second->weight.detach().equal(before)) << "nothing changed";
  EXPECT_EQ(report.describe(),
            "no step: the gradient of parameter 2 (group 1, position 0), of shape [2, 3] has an infinity or NaN");
  StateDict names;
  for (const auto& item : net->named_parameters()) names.insert(item.key(), item.value());
  EXPECT_NE(report.describe(names).find("'1.weight'"), std::string::npos) << report.describe(names);
  report = step_with(1, -kInf);
  ASSERT_TRUE(report.first);
  EXPECT_EQ(report.first->index, 3U);
  report = step_with(1, 1);
  EXPECT_TRUE(report.stepped);
  EXPECT_FALSE(report.first);
  EXPECT_EQ(report.describe(), "stepped");
  EXPECT_FALSE(second->weight.detach().equal(before));
}

TEST_P(GradScalerTest, ManyTensorsOfAllSizesAndLayouts) {
  std::vector<Tensor> params;
  for (int64_t i = 0; i < 150; ++i) params.push_back(parameter({i * i + 1}));
  params.push_back(parameter({0}));
  params.push_back(parameter({300, 401}));
  SGD optimizer(params, SGDOptions(1));
  for (const size_t bad : {size_t{149}, size_t{0}, size_t{77}, size_t{151}, params.size()}) {
    GradScaler scaler(GradScalerOptions().init_scale(4));
    for (const Tensor& p : params) set_gradient(p, full_like(p, 2));
    set_gradient(params[151], full({401, 300}, 2, options()).t());
    scaler.scale(ones({1}, options()));
    if (bad < params.size()) params[bad].grad().select(0, params[bad].size(0) - 1).fill_(kInf);
    const Tensor weight = params[150 - 1].detach().clone();
    const StepReport report = scaler.step(optimizer);
    EXPECT_EQ(report.stepped, bad == params.size());
    if (bad < params.size()) {
      ASSERT_TRUE(report.first) << bad;
      EXPECT_EQ(report.first->index, bad);
    } else {
      EXPECT_EQ(value(params[151].grad()), 0.5);
      EXPECT_EQ(value(params[149], 149), value(weight, 149) - 0.5);
      EXPECT_TRUE(params[151].grad().eq(0.5).all().item<bool>()) << "strided gradients too";
    }
  }
}

TEST_P(GradScalerTest, UnscaledGradientsMayBeLookedAtFirst) {
  const Tensor p = parameter({2});
  SGD optimizer({p}, SGDOptions(1));
  GradScaler scaler(GradScalerOptions().init_scale(8));
  scaler.scale((p * 3).sum()).backward();
  EXPECT_EQ(value(p.grad()), 24);
  scaler.unscale_(optimizer);
  EXPECT_EQ(value(p.grad()), 3);
  EXPECT_TRUE(scaler.step(optimizer).stepped);
  EXPECT_EQ(value(p), -2);
}

TEST_P(GradScalerTest, TwoOptimizersAndOneUpdate) {
  const Tensor p = parameter({2}), q = parameter({2});
  SGD good({p}, SGDOptions(1)), bad({q}, SGDOptions(1));
  GradScaler scaler(GradScalerOptions().init_scale(4));
  scaler.scale(p.sum() + q.sum()).backward();
  set_gradient(q, numbers({1, kNaN}));
  EXPECT_TRUE(scaler.step(good).stepped);
  EXPECT_FALSE(scaler.step(bad).stepped);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 2) << "one bad gradient is enough";
  EXPECT_EQ(value(p), 0);
  EXPECT_EQ(value(q), 1);
}

TEST_P(GradScalerTest, ListsAreScaledTensorByTensor) {
  GradScaler scaler(GradScalerOptions().init_scale(4));
  const Tensor x = numbers({1, 2}), y = numbers({3});
  const std::vector<Tensor> scaled = scaler.scale({x, y});
  ASSERT_EQ(scaled.size(), 2U);
  EXPECT_EQ(value(scaled[0], 1), 8);
  EXPECT_EQ(value(scaled[1]), 12);
  EXPECT_EQ(scaler.scale(x.to(kHalf)).dtype(), kHalf) << "a scale does not widen";
}

TEST_P(GradScalerTest, Float16TrainingUnderAutocastConverges) {
  nn::Linear net(8, 1);
  net->to(Device(GetParam()));
  SGD optimizer(net->parameters(), SGDOptions(0.1));
  GradScaler scaler(GradScalerOptions().init_scale(1 << 30));  // far too large at first
  const Tensor x = (arange(128, options()) / 37).cos().view({16, 8}), y = x.sum(1, true);
  int skipped = 0;
  double last = 0;
  for (int i = 0; i < 200; ++i) {
    optimizer.zero_grad();
    Tensor loss;
    {
      const AutocastGuard guard(GetParam(), kHalf);
      loss = mse_loss(net->forward(x), y);
    }
    scaler.scale(loss).backward();
    skipped += !scaler.step(optimizer).stepped;
    scaler.update();
    last = loss.item<double>();
  }
  EXPECT_GT(skipped, 3);
  EXPECT_LT(skipped, 40);
  EXPECT_LT(last, 1e-2);
}

// ---- state

TEST_P(GradScalerTest, StateGoesToAnotherScaler) {
  const Tensor p = parameter({2});
  SGD optimizer({p}, SGDOptions(1));
  GradScaler scaler(GradScalerOptions().init_scale(64).growth_interval(5).growth_factor(3).backoff_factor(0.25));
  scaler.scale(p.sum()).backward();
  scaler.step(optimizer);
  scaler.update();
  const StateDict state = scaler.state_dict();
  for (const bool used : {false, true}) {
    GradScaler other;
    if (used) other.scale(p.sum());
    other.load_state_dict(state);
    if (!used) other.scale(p.sum());
    EXPECT_EQ(other.get_scale(), 64);
    EXPECT_EQ(other.get_growth_interval(), 5);
    EXPECT_EQ(other.get_growth_factor(), 3);
    EXPECT_EQ(other.get_backoff_factor(), 0.25);
    EXPECT_EQ(other.state_dict()["_growth_tracker"].item<int64_t>(), 1);
  }
  GradScaler other;
  EXPECT_ERROR(other.load_state_dict(StateDict()), "the state is empty");
  StateDict damaged = state;
  damaged.erase("growth_factor");
  EXPECT_ERROR(other.load_state_dict(damaged), "expected one number as 'growth_factor' in the state, got none");
  EXPECT_EQ(other.get_scale(), 65536) << "nothing changed";
}

TEST_P(GradScalerTest, UpdateTakesANewScale) {
  GradScaler scaler;
  scaler.scale(ones({1}, options()));
  scaler.update(12);
  EXPECT_EQ(scaler.get_scale(), 12);
}

TEST_P(GradScalerTest, DisabledItStaysOutOfTheWay) {
  const Tensor p = parameter({2});
  SGD optimizer({p}, SGDOptions(1));
  GradScaler scaler(GradScalerOptions().enabled(false));
  const Tensor loss = p.sum();
  EXPECT_TRUE(scaler.scale(loss).is_same(loss));
  loss.backward();
  set_gradient(p, numbers({kInf, 1}));
  scaler.unscale_(optimizer);
  EXPECT_TRUE(scaler.step(optimizer).stepped);
  EXPECT_EQ(value(p, 1), 0);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 1);
  EXPECT_EQ(scaler.state_dict().size(), 0U);
}

// ---- misuse

TEST_P(GradScalerTest, MisuseIsNamed) {
  const Tensor p = parameter({2});
  SGD optimizer({p}, SGDOptions(1));
  GradScaler scaler;
  EXPECT_ERROR(scaler.step(optimizer), "step() before any scale()");
  EXPECT_ERROR(scaler.unscale_(optimizer), "unscale_() before any scale()");
  EXPECT_ERROR(scaler.update(), "update() before any scale()");
  scaler.scale(p.sum());
  EXPECT_ERROR(scaler.step(optimizer), "none of its parameters has one");
  EXPECT_ERROR(scaler.update(), "update() before any gradients were checked");
  scaler.update(4);
  scaler.scale(p.sum()).backward();
  scaler.unscale_(optimizer);
  EXPECT_ERROR(scaler.unscale_(optimizer), "unscale_() was already called on this optimizer since the last update()");
  scaler.step(optimizer);
  EXPECT_ERROR(scaler.step(optimizer), "step() was already called on this optimizer since the last update()");
  EXPECT_ERROR(scaler.unscale_(optimizer), "unscale_() is being called after step()");
  scaler.update();
  EXPECT_TRUE(scaler.step(optimizer).stepped) << "and from the beginning again";

  const Tensor h = ones({3}, options().dtype(kHalf)).set_requires_grad(true);
  SGD half({h}, SGDOptions(1));
  set_gradient(h, ones_like(h));
  EXPECT_ERROR(scaler.unscale_(half), "attempting to unscale float16 gradients: parameter 0 of shape [3]");
  EXPECT_ERROR(GradScaler(GradScalerOptions().growth_factor(1)), "growth factor must be > 1.0, got 1");
  EXPECT_ERROR(GradScaler(GradScalerOptions().backoff_factor(1)), "backoff factor must be < 1.0, got 1");
}

// ---- the ops

TEST_P(GradScalerTest, OneFlagForAllTensorsAsInPyTorch) {
  const Tensor a = numbers({2, 4}), b = numbers({6, kInf}), by = numbers({0.5}), found = numbers({0});
  _amp_foreach_non_finite_check_and_unscale_({a}, found, by);
  EXPECT_EQ(value(found), 0);
  EXPECT_EQ(value(a, 1), 2);
  _amp_foreach_non_finite_check_and_unscale_({a, b}, found, by);
  EXPECT_EQ(value(found), 1);
  EXPECT_EQ(value(b), 3);
  for (const ScalarType type : {kHalf, kBFloat16, kDouble}) {
    const Tensor t = numbers({8, -2, 1}).to(type);
    found.zero_();
    _amp_foreach_non_finite_check_and_unscale_({a, t}, found, by);
    EXPECT_EQ(value(found), 0);
    EXPECT_EQ(value(t), 4) << dtype_name(type);
  }
  EXPECT_THROW(_amp_foreach_non_finite_check_and_unscale_({a, b}, numbers({0, 0, 0}), by), ShapeError);
  EXPECT_THROW(_amp_foreach_non_finite_check_and_unscale_({a, b}, found.to(kDouble), by), DtypeError);
}

// On a pretended device every kernel of the scaler compiles.
TEST(GradScalerKernels, Compile) {
  std::string why;
  if (!find_backend(kCUDA, &why)) GTEST_SKIP() << why;
  const TensorOptions there = TensorOptions(kFloat).device(kCUDA);
  const Tensor found = zeros({1}, there), by = ones({1}, there), tracker = zeros({1}, there.dtype(kInt));
  for (const ScalarType type : {kFloat, kHalf, kBFloat16, kDouble})
    _amp_foreach_non_finite_check_and_unscale_({ones({5}, there.dtype(type))}, found, by);
  _amp_update_scale_(by, tracker, found, 2, 0.5, 100);
  EXPECT_TRUE(by.is_cuda());
}

}  // namespace
}  // namespace argand::amp
