// Modules in archives.
#include <gtest/gtest.h>

#include <sstream>

#include "argand/core/cpu_generator.h"
#include "argand/nn/modules.h"
#include "argand/ops/functions.h"
#include "argand/serialize/serialize.h"

namespace argand::nn {
namespace {

Sequential make_net() {
  return Sequential(Linear(3, 4), BatchNorm1d(4), Functional([](const Tensor& x) { return x.relu(); }), Linear(4, 2));
}

std::string saved(const Sequential& net) {
  std::ostringstream out;
  save(net, out);
  return out.str();
}
void load_from(Sequential& net, const std::string& bytes) {
  std::istringstream in(bytes);
  load(net, in);
}

TEST(ModuleArchive, RoundTrip) {
  Sequential a = make_net(), b = make_net();
  a->forward(randn({8, 3}));  // moves the buffers of BatchNorm
  const Tensor weight = b->named_parameters()["0.weight"];
  load_from(b, saved(a));
  EXPECT_TRUE(weight.is_same(b->named_parameters()["0.weight"])) << "an optimizer knows the tensor";
  EXPECT_TRUE(weight.requires_grad());
  const StateDict want = a->state_dict(), got = b->state_dict();
  ASSERT_EQ(want.keys(), got.keys());
  for (const auto& item : want) EXPECT_TRUE(equal(item.value(), got[item.key()])) << item.key();
}

TEST(ModuleArchive, DtypesAreThoseOfTheFile) {
  Sequential a = make_net(), b = make_net();
  a->to(kDouble);
  load_from(b, saved(a));
  EXPECT_EQ(b->parameters()[0].dtype(), kDouble);
}

TEST(ModuleArchive, OtherStructuresAreErrors) {
  const auto message = [](const Sequential& from, Sequential to) -> std::string {
    try {
      load_from(to, saved(from));
    } catch (const ValueError& e) {
      return e.msg();
    }
    return "loaded";
  };
  EXPECT_EQ(message(make_net(), Sequential(Linear(3, 5))),
            "load: shape of weight of argand::nn::LinearImpl: expected [5, 3], got [4, 3]");
  EXPECT_EQ(message(Sequential(Linear(3, 4)), make_net()), "No such serialized submodule: '1'");
  EXPECT_EQ(message(Sequential(Linear(LinearOptions(3, 4).bias(false))), Sequential(Linear(3, 4))),
            "No such serialized tensor '0.bias'");
  EXPECT_THROW(load_from(*std::make_unique<Sequential>(nullptr), ""), Error);
}

TEST(Module, ApplyGivesPointersAndConstReferences) {
  const Sequential net = make_net();
  std::string names;
  net.ptr()->apply([&](const std::string& name, const std::shared_ptr<Module>& m) {
    names += name + (m->as<Linear>() ? "*" : "") + " ";
  });
  EXPECT_EQ(names, " 0* 1 2 3* ");
  int count = 0;
  std::as_const(*net).apply([&](const Module&) { ++count; });
  EXPECT_EQ(count, 5);
}

TEST(Functional, BindsWhatFollowsTheInput) {
  Functional f([](const Tensor& x, double by) { return x.mul(by); }, 3.0);
  EXPECT_EQ(f(ones({1})).item<float>(), 3);
}

}  // namespace
}  // namespace argand::nn
