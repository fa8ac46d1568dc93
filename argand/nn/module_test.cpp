#include "argand/nn/module.h"

#include "argand/base/log.h"
#include "argand/core/grad_mode.h"
#include "argand/nn/modules/batchnorm.h"
#include "argand/nn/modules/dropout.h"
#include "argand/nn/modules/linear.h"
#include "argand/nn/modules/values_test.h"

namespace argand::nn {
namespace {

struct NetImpl : Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override {
    hidden = register_module("hidden", Linear(4, 3));
    norm = register_module("norm", BatchNorm1d(3));
    scale = register_parameter("scale", ones({3}));
    steps = register_buffer("steps", zeros({}));
  }
  Tensor forward(const Tensor& x) { return norm(hidden(x)) * scale; }
  Linear hidden{nullptr};
  BatchNorm1d norm{nullptr};
  Tensor scale, steps;
};
ARGAND_MODULE(Net);

const std::vector<std::string> kNames{"scale",
                                      "steps",
                                      "hidden.weight",
                                      "hidden.bias",
                                      "norm.weight",
                                      "norm.bias",
                                      "norm.running_mean",
                                      "norm.running_var",
                                      "norm.num_batches_tracked"};

TEST(Module, NamesParametersAndBuffersInOrder) {
  Net net;
  EXPECT_EQ(net->named_parameters().keys(),
            (std::vector<std::string>{"scale", "hidden.weight", "hidden.bias", "norm.weight", "norm.bias"}));
  EXPECT_EQ(net->named_parameters(false).keys(), std::vector<std::string>{"scale"});
  EXPECT_EQ(net->named_buffers().keys(),
            (std::vector<std::string>{"steps", "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"}));
  EXPECT_EQ(net->named_children().keys(), (std::vector<std::string>{"hidden", "norm"}));
  EXPECT_EQ(net->modules().size(), 3u);
  EXPECT_EQ(net->state_dict().keys(), kNames);
}

TEST(Module, RefusesBadRegistrations) {
  Net net;
  EXPECT_ERROR(ValueError, "Parameter name must not contain a dot (got 'a.b')",
               net->register_parameter("a.b", ones({1})));
  EXPECT_ERROR(ValueError, "Buffer name must not be empty", net->register_buffer("", ones({1})));
  EXPECT_ERROR(ValueError, "scale", net->register_parameter("scale", ones({1})));
  EXPECT_ERROR(ValueError, "hidden", net->register_module("hidden", Linear(1, 1)));
  EXPECT_ERROR(GradError, "must be a leaf", net->register_parameter("p", ones({1}).requires_grad_() * 2));
}

TEST(Module, LoadStateDictListsAllThatIsWrongAndChangesNothing) {
  Net net, other;
  StateDict state = other->state_dict();
  state.erase("hidden.weight");
  state.erase("norm.running_var");
  state["scale"] = ones({2}) * 7;
  state["norm.bias"] = ones({3}) * 7;
  state.insert("extra", ones({1}));
  try {
    net->load_state_dict(state);
    ADD_FAILURE() << "no error";
  } catch (const ValueError& e) {
    for (const char* part : {"missing: hidden.weight", "missing: norm.running_var", "unexpected: extra",
                             "shape of scale: expected [3], got [2]"})
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << part << " is not in: " << e.what();
  }
  expect_values("norm.bias", net->norm->bias, {0, 0, 0});
  state["scale"] = ones({3}) * 7;
  net->load_state_dict(state, false);
  expect_values("norm.bias", net->norm->bias, {7, 7, 7});
  expect_values("scale", net->scale, {7, 7, 7});
}

TEST(Module, StateDictSharesMemory) {
  Net net;
  net->state_dict()["scale"].fill_(5);
  expect_values("scale", net->scale, {5, 5, 5});
  EXPECT_FALSE(net->state_dict()["scale"].requires_grad());
}

TEST(Module, CloneIsDeep) {
  Net net;
  const auto copy = std::dynamic_pointer_cast<NetImpl>(net->clone());
  EXPECT_TRUE(equal(copy->hidden->weight, net->hidden->weight));
  const StateDict before = net->state_dict(), after = copy->state_dict();
  for (const auto& item : before) EXPECT_FALSE(item.value().is_alias_of(after[item.key()])) << item.key();
  {
    const NoGradGuard no_grad;
    copy->hidden->weight.zero_();
  }
  EXPECT_NE(net->hidden->weight.abs().sum().item().toDouble(), 0);
  EXPECT_NO_THROW(copy->forward(pattern({2, 4}).to(kFloat)));
}

TEST(Module, ApplyVisitsParentsFirst) {
  Net net;
  std::vector<std::string> names;
  net->apply([&](const std::string& name, Module&) { names.push_back(name); }, "net");
  EXPECT_EQ(names, (std::vector<std::string>{"net", "net.hidden", "net.norm"}));
}

TEST(Module, TrainEvalAndDtype) {
  Net net;
  net->eval();
  EXPECT_FALSE(net->norm->is_training());
  net->train();
  EXPECT_TRUE(net->norm->is_training());
  net->to(kDouble);
  EXPECT_EQ(net->hidden->weight.dtype(), kDouble);
  EXPECT_EQ(net->norm->running_mean.dtype(), kDouble);
  EXPECT_EQ(net->norm->num_batches_tracked.dtype(), kLong);
  EXPECT_EQ(net->forward(pattern({2, 4})).dtype(), kDouble);
}

TEST(Module, ZeroGrad) {
  Net net;
  net->forward(pattern({3, 4}).to(kFloat)).sum().backward();
  ASSERT_TRUE(net->scale.grad().defined());
  net->zero_grad(false);
  expect_values("scale.grad", net->scale.grad(), {0, 0, 0});
  net->zero_grad();
  EXPECT_FALSE(net->scale.grad().defined());
}

TEST(Module, ReplaceModule) {
  Net net;
  net->hidden = net->replace_module("hidden", Linear(LinearOptions(4, 3).bias(false)));
  EXPECT_FALSE(net->named_parameters().contains("hidden.bias"));
  net->unregister_module("norm");
  EXPECT_EQ(net->named_children().keys(), std::vector<std::string>{"hidden"});
}

struct Uncloneable : Module {};
TEST(Module, CloneNeedsCloneable) {
  EXPECT_ERROR(NotImplementedError, "clone() has not been implemented for", Uncloneable().clone());
}

TEST(Module, EmptyHolderSaysSo) {
  const Linear empty_one(nullptr);
  EXPECT_TRUE(empty_one.is_empty());
  EXPECT_ERROR(ValueError, "Accessing empty ModuleHolder", empty_one.get());
}

TEST(Module, SaysWhatItCannotDo) {
  Module plain("plain");
  EXPECT_ERROR(ValueError, "No Module with name `a` is registered", plain.unregister_module("a"));
  EXPECT_ERROR(ValueError, "It looks like you attempted to retrieve your top-level module as a shared_ptr",
               plain.modules());
  std::string warned;
  const auto before = set_warning_handler([&](std::string_view m) { warned += m; });
  plain.register_parameter("absent", Tensor(), /*requires_grad=*/false);
  EXPECT_EQ(warned, "");
  plain.register_parameter("undefined", Tensor());
  set_warning_handler(before);
  EXPECT_NE(warned.find("Ignoring the `requires_grad=true` function parameter"), std::string::npos);
}

}  // namespace
}  // namespace argand::nn
