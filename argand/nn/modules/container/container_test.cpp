#include "argand/core/grad_mode.h"
#include "argand/nn/modules/activation.h"
#include "argand/nn/modules/container/moduledict.h"
#include "argand/nn/modules/container/modulelist.h"
#include "argand/nn/modules/container/parameterlist.h"
#include "argand/nn/modules/container/sequential.h"
#include "argand/nn/modules/conv.h"
#include "argand/nn/modules/dropout.h"
#include "argand/nn/modules/linear.h"
#include "argand/nn/modules/rnn.h"
#include "argand/nn/modules/values_test.h"

namespace argand::nn {
namespace {

struct AddImpl : Module {
  Tensor forward(const Tensor& x, double y) { return x + y; }
};
ARGAND_MODULE(Add);

TEST(AnyModule, ChecksCountAndTypesOfArguments) {
  AnyModule m{Add()};
  expect_values("sum", m.forward(ones({2}), 2.0), {3, 3});
  EXPECT_ERROR(ValueError, "expects 2 argument(s), but received 1", m.forward(ones({2})));
  EXPECT_ERROR(ValueError, "Expected argument #1 to be of type double, but received value of type int",
               m.forward(ones({2}), 2));
  EXPECT_ERROR(ValueError, "Attempted to cast AnyValue to int, but its actual type is argand::Tensor",
               m.forward<int>(ones({2}), 2.0));
  EXPECT_ERROR(ValueError, "Cannot call forward() on an empty AnyModule", AnyModule().forward(ones({2})));
  EXPECT_ERROR(ValueError, "Attempted to cast module of type", m.get<LinearImpl>());
}

TEST(AnyModule, KnowsDefaultArguments) {
  AnyModule m{ConvTranspose1d(1, 1, 3)};
  EXPECT_EQ(m.forward(zeros({1, 1, 4})).size(2), 6);
}

TEST(AnyModule, RecurrentLayersStartFromZeros) {
  using Both = std::tuple<Tensor, Tensor>;
  EXPECT_EQ(std::get<0>(AnyModule(RNN(2, 3)).forward<Both>(zeros({4, 1, 2}))).size(2), 3);
  EXPECT_EQ(std::get<0>(AnyModule(GRU(2, 3)).forward<Both>(zeros({4, 1, 2}))).size(2), 3);
  EXPECT_EQ(std::get<0>(AnyModule(LSTM(2, 3)).forward<std::tuple<Tensor, Both>>(zeros({4, 1, 2}))).size(2), 3);
  EXPECT_EQ(AnyModule(GRUCell(2, 3)).forward(zeros({1, 2})).size(1), 3);
  EXPECT_EQ(std::get<1>(AnyModule(LSTMCell(2, 3)).forward<Both>(zeros({1, 2}))).size(1), 3);
}

TEST(Containers, TakeOverOthers) {
  ModuleDict modules, more;
  modules->insert("a", Linear(1, 2).ptr());
  more->insert("a", Linear(1, 3).ptr());
  more->insert("b", Linear(1, 4).ptr());
  modules->update(*more);
  EXPECT_EQ(modules->keys(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(modules->at<LinearImpl>("a").weight.size(0), 3);

  ParameterDict parameters, known, unknown;
  parameters->insert("a", zeros({1}));
  parameters->insert("b", zeros({1}));
  known->insert("b", ones({1}));
  unknown->insert("b", full({1}, 2));
  unknown->insert("c", ones({1}));
  parameters->update(*known);
  EXPECT_EQ(parameters["b"].item<float>(), 1);
  EXPECT_ERROR(IndexError, "Parameter 'c' is not defined", parameters->update(*unknown));
  EXPECT_EQ(parameters["b"].item<float>(), 1) << "nothing changed";

  ParameterList first(zeros({1})), second(ones({1}), full({1}, 2));
  *first += *second;
  first->extend(*second);
  EXPECT_EQ(first->size(), 5u);
  EXPECT_NE(printed(*first).find("(0): Parameter containing: [Float of size [1]]"), std::string::npos);
  EXPECT_EQ(first[2].item<float>(), 2);
}

TEST(Sequential, ChainsAndNames) {
  Sequential net(Linear(4, 3), ReLU(), Linear(3, 2));
  EXPECT_EQ(net->named_parameters().keys(), (std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias"}));
  const Tensor x = pattern({5, 4}).to(kFloat);
  const Tensor by_hand = net->at<LinearImpl>(2).forward(net->at<LinearImpl>(0).forward(x).relu());
  EXPECT_TRUE(equal(net->forward(x), by_hand));
  Sequential named({{"first", Linear(4, 3)}, {"second", Dropout(0.5)}});
  EXPECT_EQ(named->named_children().keys(), (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(printed(*named),
            "torch::nn::Sequential(\n  (first): torch::nn::Linear(in_features=4, out_features=3, bias=true)\n"
            "  (second): torch::nn::Dropout(p=0.5, inplace=false)\n)");
}

TEST(Sequential, ClonesDeeplyAndRefuses) {
  Sequential net(Linear(2, 2));
  auto copy = std::dynamic_pointer_cast<SequentialImpl>(net->clone());
  const Tensor x = pattern({1, 2}).to(kFloat), before = net->forward(x);
  {
    const NoGradGuard no_grad;
    copy->at<LinearImpl>(0).weight.zero_();
  }
  EXPECT_TRUE(equal(net->forward(x), before));
  EXPECT_FALSE(equal(copy->forward(x), before));
  EXPECT_ERROR(ValueError, "Cannot call forward() on an empty Sequential", Sequential()->forward(x));
  EXPECT_ERROR(IndexError, "Index out of range", net->ptr(1));
  EXPECT_ERROR(ValueError, "Attempted to cast module of type", net->at<DropoutImpl>(0));
  EXPECT_ERROR(ValueError, "but you asked for type", net->forward<double>(x));
}

TEST(ModuleList, InsertRenamesWhatFollows) {
  ModuleList list(Linear(1, 1), Linear(2, 2));
  list->insert(1, ReLU());
  EXPECT_EQ(list->named_parameters().keys(), (std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias"}));
  EXPECT_EQ(list->at<LinearImpl>(2).weight.size(0), 2);
  EXPECT_ERROR(IndexError, "", list->ptr(3));
}

TEST(ModuleDict, KeepsOrderAndPops) {
  ModuleDict dict;
  dict->insert("b", Linear(1, 1).ptr());
  dict->insert("a", ReLU().ptr());
  EXPECT_EQ(dict->keys(), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(dict->pop("b")->parameters().size(), 2u);
  EXPECT_FALSE(dict->contains("b"));
  EXPECT_ERROR(Error, "b", dict->pop("b"));
}

}  // namespace
}  // namespace argand::nn
