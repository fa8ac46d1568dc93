// Optimizers and schedulers beside the numbers that torch.optim gave (tests/data/optim_trajectories.txt, which
// describes its format and is written by make_optim_trajectories.py).
#include <gtest/gtest.h>

#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/optim/adadelta.h"
#include "argand/optim/adagrad.h"
#include "argand/optim/adam.h"
#include "argand/optim/adamax.h"
#include "argand/optim/nadam.h"
#include "argand/optim/radam.h"
#include "argand/optim/record_test.h"
#include "argand/optim/rmsprop.h"
#include "argand/optim/sgd.h"

namespace argand::optim {
namespace {

using namespace testing;

template <class Options>
std::unique_ptr<OptimizerOptions> options_of(Options options, const Settings& settings) {
  size_t used = 0;
  options.each_number([&](const char* name, double& value) {
    if (const auto it = settings.find(name); it != settings.end()) value = std::stod(it->second), ++used;
  });
  EXPECT_EQ(used, settings.size()) << "a setting that the options do not have";
  return std::make_unique<Options>(options);
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerCase& c, const std::vector<Tensor>& params) {
  const auto make = [&](auto options, auto* type) -> std::unique_ptr<Optimizer> {
    using Type = std::remove_pointer_t<decltype(type)>;
    std::vector<OptimizerParamGroup> groups;
    if (c.groups.size() == 1) {
      groups.emplace_back(params, options_of(options, c.groups[0]));
    } else {
      groups.emplace_back(std::vector<Tensor>{params[0]}, options_of(options, c.groups[0]));
      groups.emplace_back(std::vector<Tensor>(params.begin() + 1, params.end()), options_of(options, c.groups[1]));
    }
    return std::make_unique<Type>(groups, options);
  };
  if (c.name == "SGD") return make(SGDOptions(1), static_cast<SGD*>(nullptr));
  if (c.name == "Adam") return make(AdamOptions(), static_cast<Adam*>(nullptr));
  if (c.name == "AdamW") return make(AdamWOptions(), static_cast<AdamW*>(nullptr));
  if (c.name == "Adagrad") return make(AdagradOptions(), static_cast<Adagrad*>(nullptr));
  if (c.name == "Adadelta") return make(AdadeltaOptions(), static_cast<Adadelta*>(nullptr));
  if (c.name == "Adamax") return make(AdamaxOptions(), static_cast<Adamax*>(nullptr));
  if (c.name == "NAdam") return make(NAdamOptions(), static_cast<NAdam*>(nullptr));
  if (c.name == "RAdam") return make(RAdamOptions(), static_cast<RAdam*>(nullptr));
  EXPECT_EQ(c.name, "RMSprop");
  return make(RMSpropOptions(), static_cast<RMSprop*>(nullptr));
}

// How a parameter lies in memory; the numbers must not depend on it.
enum class Layout { kFlat, kTransposed, kStrided };

Tensor laid_out(const Numbers& values, ScalarType dtype, Layout layout) {
  const auto n = static_cast<int64_t>(values.size());
  Tensor t = tensor(TensorLiteral(values), kDouble).to(dtype);
  if (layout == Layout::kTransposed && n % 2 == 0) return t.view({n / 2, 2}).t().contiguous().t();
  if (layout == Layout::kStrided) {
    const Tensor wide = zeros({n, 3}, dtype);
    wide.select(1, 1).copy_(t);
    return wide.select(1, 1);
  }
  return t;
}

void set_gradients(std::vector<Tensor>& params, int step, ScalarType dtype) {
  for (size_t i = 0; i < params.size(); ++i) {
    const auto it = record().grads.find({step, static_cast<int>(i)});
    params[i].mutable_grad() = it == record().grads.end()
                                   ? Tensor()
                                   : tensor(TensorLiteral(it->second), kDouble).to(dtype).view(params[i].sizes());
  }
}

void expect_near(const std::vector<Tensor>& params, const Numbers& expected, double tolerance) {
  std::vector<Tensor> flat;
  for (const Tensor& p : params) flat.push_back(p.detach().reshape({-1}).to(kDouble));
  const Tensor all = cat(flat);
  ASSERT_EQ(all.numel(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(all[static_cast<int64_t>(i)].item<double>(), expected[i], tolerance) << "element " << i;
}

std::vector<Tensor> start(ScalarType dtype, Layout layout) {
  std::vector<Tensor> params;
  for (const Numbers& values : record().starts) params.push_back(laid_out(values, dtype, layout).requires_grad_());
  return params;
}

void follow(const OptimizerCase& c, ScalarType dtype, Layout layout, double tolerance) {
  SCOPED_TRACE(c.text);
  std::vector<Tensor> params = start(dtype, layout);
  const auto optimizer = make_optimizer(c, params);
  for (size_t step = 0; step < c.after.size(); ++step) {
    SCOPED_TRACE(str("step ", step));
    set_gradients(params, static_cast<int>(step), dtype);
    optimizer->step();
    expect_near(params, c.after[step], tolerance);
  }
}

TEST(Trajectory, RecordIsThere) {
  EXPECT_GE(record().optimizers.size(), 44u);
  EXPECT_GE(record().schedulers.size(), 25u);
  for (const OptimizerCase& c : record().optimizers) EXPECT_EQ(c.after.size(), 8u);
}

TEST(Trajectory, Double) {
  for (const OptimizerCase& c : record().optimizers) follow(c, kDouble, Layout::kFlat, 1e-12);
}
TEST(Trajectory, Float) {
  for (const OptimizerCase& c : record().optimizers) follow(c, kFloat, Layout::kFlat, 2e-5);
}
TEST(Trajectory, ParametersThatAreNotContiguous) {
  for (const OptimizerCase& c : record().optimizers) {
    follow(c, kDouble, Layout::kTransposed, 1e-12);
    follow(c, kDouble, Layout::kStrided, 1e-12);
  }
}

// The state goes to a new optimizer after every step.
TEST(Trajectory, ThroughStateDicts) {
  for (const OptimizerCase& c : record().optimizers) {
    SCOPED_TRACE(c.text);
    std::vector<Tensor> params = start(kDouble, Layout::kFlat);
    auto optimizer = make_optimizer(c, params);
    for (size_t step = 0; step < c.after.size(); ++step) {
      OptimizerCase other = c;  // what the settings were must not matter
      for (Settings& s : other.groups) s = {{"lr", "123"}};
      auto next = make_optimizer(other, params);
      next->load_state_dict(optimizer->state_dict());
      optimizer = std::move(next);
      set_gradients(params, static_cast<int>(step), kDouble);
      optimizer->step();
      expect_near(params, c.after[step], 1e-12);
    }
  }
}

}  // namespace
}  // namespace argand::optim
