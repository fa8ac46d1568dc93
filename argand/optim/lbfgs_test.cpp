// LBFGS beside the numbers that torch.optim.LBFGS gave (tests/data/lbfgs_trajectories.txt, whose format
// make_lbfgs_trajectories.py describes).
#include "argand/optim/lbfgs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "argand/autograd/engine.h"
#include "argand/core/grad_mode.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::optim {
namespace {

// The function of the record.
struct Valley {
  Tensor x = tensor({-1.2, 1.0}, kDouble).requires_grad_(), y = zeros({}, kDouble).requires_grad_();
  Tensor loss() const {
    const Tensor a = 1 - x[0], b = x[1] - x[0] * x[0], c = y - x[1];
    return a * a + 100 * b * b + 10 * c * c;
  }
  Optimizer::LossClosure closure(Optimizer& optimizer) const {
    return [this, &optimizer] {
      optimizer.zero_grad();
      const Tensor value = loss();
      value.backward();
      return value;
    };
  }
  std::vector<double> values() const { return {x[0].item<double>(), x[1].item<double>(), y.item<double>()}; }
};

int64_t evaluations_of(Optimizer& optimizer) { return optimizer.state_dict()["state.0.func_evals"].item<int64_t>(); }

LBFGSOptions options_of(std::istream& words) {
  LBFGSOptions o;
  for (std::string word; words >> word;) {
    const std::string key = word.substr(0, word.find('=')), value = word.substr(word.find('=') + 1);
    if (key == "lr") o.lr(std::stod(value));
    if (key == "max_iter") o.max_iter(std::stoll(value));
    if (key == "max_eval") o.max_eval(std::stoll(value));
    if (key == "history_size") o.history_size(std::stoll(value));
    if (key == "tolerance_grad") o.tolerance_grad(std::stod(value));
    if (key == "tolerance_change") o.tolerance_change(std::stod(value));
    if (key == "line_search_fn") o.line_search_fn(value);
  }
  return o;
}

TEST(LBFGS, AsPyTorch) {
  std::ifstream file("tests/data/lbfgs_trajectories.txt");
  std::unique_ptr<Valley> valley;
  std::unique_ptr<LBFGS> optimizer;
  int steps = 0;
  std::string title;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "case") {
      title = line;
      valley = std::make_unique<Valley>();
      optimizer = std::make_unique<LBFGS>(std::vector<Tensor>{valley->x, valley->y}, options_of(words));
      continue;
    }
    SCOPED_TRACE(title + " step " + std::to_string(++steps));
    double loss = 0;
    words >> loss;
    const double got = optimizer->step(valley->closure(*optimizer)).item<double>();
    // Near the minimum the loss is the square of what rounding leaves.
    EXPECT_NEAR(got, loss, 1e-7 * std::abs(loss) + 1e-9);
    for (const double value : valley->values()) {
      double expected = 0;
      words >> expected;
      EXPECT_NEAR(value, expected, 1e-7 * std::abs(expected) + 1e-9);
    }
    int64_t evaluations = 0;
    words >> evaluations;
    EXPECT_EQ(evaluations_of(*optimizer), evaluations);
  }
  EXPECT_EQ(steps, 36);
}

TEST(LBFGS, GoesOnFromASavedState) {
  const auto options = LBFGSOptions().line_search_fn("strong_wolfe").max_iter(3).history_size(2);
  Valley whole, parted;
  LBFGS one({whole.x, whole.y}, options), first({parted.x, parted.y}, options);
  one.step(whole.closure(one));
  first.step(parted.closure(first));
  LBFGS second({parted.x, parted.y});  // the options are loaded, too
  second.load_state_dict(first.state_dict());
  one.step(whole.closure(one));
  second.step(parted.closure(second));
  EXPECT_EQ(whole.values(), parted.values());
}

TEST(LBFGS, AStateOfOtherParametersIsRefused) {
  Valley valley;
  LBFGS optimizer({valley.x, valley.y}, LBFGSOptions().line_search_fn("strong_wolfe").max_iter(2));
  optimizer.step(valley.closure(optimizer));
  Valley other;
  LBFGS smaller({other.x});
  smaller.load_state_dict(optimizer.state_dict());
  EXPECT_THROW(smaller.step(other.closure(smaller)), ValueError);
}

TEST(LBFGS, BadArguments) {
  Valley v;
  EXPECT_THROW(LBFGS({OptimizerParamGroup({v.x}), OptimizerParamGroup({v.y})}), ValueError);
  EXPECT_THROW(LBFGS({v.x}, LBFGSOptions().line_search_fn("armijo")), ValueError);
  EXPECT_THROW(LBFGS({v.x}, LBFGSOptions(-1)), ValueError);
  LBFGS optimizer({v.x});
  EXPECT_THROW(optimizer.step(), ValueError);
}

TEST(LBFGS, AParameterWithoutGradientStays) {
  Valley v;
  const Tensor unused = ones({3}, kDouble).requires_grad_();
  LBFGS optimizer({v.x, v.y, unused}, LBFGSOptions().line_search_fn("strong_wolfe"));
  optimizer.step(v.closure(optimizer));
  EXPECT_TRUE(unused.detach().equal(ones({3}, kDouble)));
  EXPECT_LT(v.loss().item<double>(), 1);
}

// A complex parameter is its real and imaginary parts; neither it nor a permuted one stops the others.
TEST(LBFGS, ComplexAndPermutedParameters) {
  for (const bool search : {false, true}) {
    const Tensor z = zeros({2}, kComplexDouble).requires_grad_(), parts = zeros({2, 2}, kDouble).requires_grad_(),
                 turned = zeros({3, 2}, kDouble).t().requires_grad_();
    const Tensor goal = arange(6, kDouble).view({2, 3});
    const auto run = [&](const std::vector<Tensor>& params, const std::function<Tensor()>& loss) {
      LBFGS optimizer(params, LBFGSOptions(search ? 1 : 0.5)
                                  .max_iter(60)
                                  .tolerance_grad(1e-12)
                                  .tolerance_change(1e-14)
                                  .line_search_fn(search ? std::optional<std::string>("strong_wolfe") : std::nullopt));
      optimizer.step([&] {
        optimizer.zero_grad();
        const Tensor value = loss();
        value.backward();
        return value;
      });
    };
    const auto of_parts = [](const Tensor& p) {
      return ((p.select(1, 0) - 1).pow(4) + (p.select(1, 1) - 2).pow(2)).sum();
    };
    run({parts}, [&] { return of_parts(parts); });
    run({z}, [&] { return of_parts(view_as_real(z)); });
    EXPECT_TRUE(view_as_real(z.detach()).equal(parts.detach()));
    run({z, turned}, [&] { return of_parts(view_as_real(z)) + (turned - goal).pow(2).sum(); });
    EXPECT_TRUE(turned.detach().allclose(goal, 1e-5, 1e-5));
    EXPECT_FALSE(turned.is_contiguous());
  }
}

}  // namespace
}  // namespace argand::optim
