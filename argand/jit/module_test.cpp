// Modules: attributes, parameters, conversion, copies, calls from outside.
#include <gtest/gtest.h>

#include <sstream>

#include "argand/autograd/dict.h"
#include "argand/jit/archive_test.h"
#include "argand/library/library.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::jit {
namespace {

using namespace testing;

// Outer has a child "0" and the buffer `count`; Inner a parameter of one element.
ScriptArchive nested() {
  ScriptArchive a;
  a.code["__torch__/net.py"] =
      "class Inner(Module):\n"
      "  __parameters__ = [\"weight\", ]\n"
      "  __buffers__ = []\n"
      "  weight : Tensor\n"
      "  training : bool\n"
      "  def forward(self: __torch__.net.Inner,\n"
      "    x: Tensor) -> Tensor:\n"
      "    weight = self.weight\n"
      "    if self.training:\n"
      "      y = torch.mul(x, weight)\n"
      "    else:\n"
      "      y = torch.add(x, weight, alpha=10)\n"
      "    return y\n";
  a.code["__torch__.py"] =
      "class Outer(Module):\n"
      "  __parameters__ = []\n"
      "  __buffers__ = [\"count\", ]\n"
      "  count : Tensor\n"
      "  training : bool\n"
      "  names : List[str]\n"
      "  sizes : List[int]\n"
      "  bias : Optional[Tensor]\n"
      "  scale : Final[float] = 0.5\n"
      "  __annotations__ = []\n"
      "  __annotations__[\"0\"] = __torch__.net.Inner\n"
      "  def forward(self: __torch__.Outer,\n"
      "    x: Tensor,\n"
      "    times: int=1) -> Tensor:\n"
      "    _0 = getattr(self, \"0\")\n"
      "    for i in range(times):\n"
      "      x = (_0).forward(x, )\n"
      "    self.count = torch.add(self.count, CONSTANTS.c0)\n"
      "    return x\n"
      "  def total(self: __torch__.Outer, parts: List[Tensor], by: Dict[str, float]) -> float:\n"
      "    return float(torch.sum(torch.stack(parts))) * by[\"f\"]\n";
  const std::string inner = object("__torch__.net", "Inner", {{"weight", one()}, {"training", "\x88"}});
  a.data = object("__torch__", "Outer",
                  {{"count", tensor_over(storage("0", 1), 0, {1}, {1})},
                   {"training", "\x88"},
                   {"names", "]"},
                   {"sizes", global("torch.jit._pickle", "build_intlist") + "]\x85R"},
                   {"bias", "N"},
                   {"0", inner}});
  a.constants = one() + "\x85";
  return a;
}

// A constant without dimensions is the number of a traced `x * 1.5`: it does not decide the dtype.
TEST(JitModule, ConstantsWithoutDimensionsAreNumbers) {
  ScriptArchive a = nested();
  a.code["__torch__.py"] +=
      "  def scaled(self: __torch__.Outer, x: Tensor) -> Tensor:\n    return torch.mul(x, CONSTANTS.c0)\n";
  a.constants = tensor_over(storage("0", 1), 0, {}, {}) + "\x85";
  const Module m = load_bytes(a.bytes());
  EXPECT_EQ(m.run_method("scaled", ones({}, kHalf)).toTensor().dtype(), kHalf);
  EXPECT_EQ(m.run_method("scaled", ones({2}, kLong)).toTensor().dtype(), kFloat);
}

TEST(JitModule, CallsAndAttributes) {
  const Module m = load_bytes(nested().bytes());
  EXPECT_EQ(m.type()->name()->qualifiedName(), "__torch__.Outer");
  EXPECT_EQ(m.forward({full({1}, 3.0)}).toTensor().item<float>(), 3);
  EXPECT_EQ(m.attr("count").toTensor().item<float>(), 2);
  EXPECT_EQ(m({full({1}, 3.0)}, {{"times", 2}}).toTensor().item<float>(), 3);
  EXPECT_TRUE(m.attr("names").isGenericList());
  EXPECT_TRUE(m.attr("sizes").isIntList());
  EXPECT_TRUE(m.attr("bias").isNone());
  EXPECT_EQ(m.attr("scale").toDouble(), 0.5);
  EXPECT_TRUE(m.hasattr("0"));
  EXPECT_FALSE(m.hasattr("1"));
  EXPECT_EQ(m.attr("1", 7).toInt(), 7);
  EXPECT_THROW(m.attr("1"), ValueError);
  m.setattr("sizes", std::vector<IValue>{1, 2});
  EXPECT_EQ(m.attr("sizes").toIntVector(), (std::vector<int64_t>{1, 2}));
  EXPECT_THROW(m.setattr("sizes", 1.5), ValueError);
  EXPECT_THROW(m.setattr("none", 1), ValueError);
}

TEST(JitModule, ArgumentsAreCheckedAndConverted) {
  const Module m = load_bytes(nested().bytes());
  Dict<std::string, int64_t> by;
  by.insert("f", 3);
  EXPECT_EQ(m.run_method("total", std::vector<Tensor>{ones({1}), ones({1})}, by).toDouble(), 6);
  EXPECT_EQ(m.run_method("total", std::vector<IValue>{ones({1})}, by).toDouble(), 3);
  const auto message = [&](std::vector<IValue> values, const Kwargs& named = {}) -> std::string {
    try {
      m.forward(std::move(values), named);
    } catch (const ValueError& e) {
      return e.msg();
    }
    return "";
  };
  EXPECT_NE(message({}).find("missing value for argument 'x'"), std::string::npos);
  EXPECT_NE(message({1}).find("expected a value of type Tensor for argument 'x'"), std::string::npos);
  EXPECT_NE(message({ones({1}), 1, 2}).find("at most 3 arguments"), std::string::npos);
  EXPECT_NE(message({ones({1})}, {{"time", 2}}).find("no parameter 'time'"), std::string::npos);
  EXPECT_NE(message({ones({1})}, {{"x", ones({1})}}).find("'x' twice"), std::string::npos);
  EXPECT_THROW(m.get_method("backward"), ValueError);
  EXPECT_FALSE(m.find_method("backward"));
  EXPECT_EQ(m.get_methods().size(), 2);
}

TEST(JitModule, Parts) {
  const Module m = load_bytes(nested().bytes());
  ASSERT_EQ(m.named_parameters().size(), 1);
  EXPECT_EQ(m.named_parameters()[0].name, "0.weight");
  EXPECT_TRUE(m.parameters(false).empty());
  ASSERT_EQ(m.named_buffers().size(), 1);
  EXPECT_EQ(m.named_buffers()[0].name, "count");
  ASSERT_EQ(m.named_children().size(), 1);
  EXPECT_EQ(m.named_children()[0].name, "0");
  ASSERT_EQ(m.named_modules().size(), 2);
  EXPECT_EQ(m.named_modules()[0].name, "");
  EXPECT_EQ(m.named_modules()[1].name, "0");
  EXPECT_EQ(m.named_attributes(false).size(), 6);
}

TEST(JitModule, Modes) {
  const Module m = load_bytes(nested().bytes());
  EXPECT_TRUE(m.is_training());
  m.eval();
  EXPECT_FALSE(m.is_training());
  EXPECT_FALSE(m.children()[0].is_training());
  EXPECT_EQ(m.forward({full({1}, 3.0)}).toTensor().item<float>(), 13);
}

TEST(JitModule, Gradients) {
  const Module m = load_bytes(nested().bytes());
  const Tensor w = m.parameters()[0];
  w.set_requires_grad(true);
  m.forward({full({1}, 3.0), 2}).toTensor().sum().backward();  // 3 w^2
  EXPECT_EQ(w.grad().item<float>(), 6);
  m.zero_grad();
  EXPECT_FALSE(w.grad().defined());
}

TEST(JitModule, ConversionKeepsTheTensors) {
  const Module m = load_bytes(nested().bytes());
  const Tensor w = m.parameters()[0];
  m.to(kDouble);
  EXPECT_EQ(w.dtype(), kDouble);
  EXPECT_EQ(m.attr("count").toTensor().dtype(), kDouble);
  EXPECT_EQ(m.forward({full({1}, 3.0, kDouble)}).toTensor().dtype(), kDouble);
  m.to(kMeta);
  EXPECT_TRUE(m.parameters()[0].is_meta());
  EXPECT_THROW(m.to(kLong), DtypeError);
}

TEST(JitModule, Copies) {
  const Module m = load_bytes(nested().bytes()), deep = m.clone(), shallow = m.copy();
  m.parameters()[0].fill_(5);
  EXPECT_EQ(deep.parameters()[0].item<float>(), 1);
  EXPECT_EQ(shallow.parameters()[0].item<float>(), 5);
  EXPECT_TRUE(shallow.children()[0] == m.children()[0]);
  EXPECT_FALSE(deep.children()[0] == m.children()[0]);
}

TEST(JitModule, DevicesStreamsAndExtraFiles) {
  Archive archive = nested().archive();
  archive.members.push_back({"a/extra/labels.txt", "cat dog"});
  std::istringstream in(archive.bytes());
  ExtraFilesMap extra{{"labels.txt", ""}, {"other", "as it was"}};
  const Module m = load(in, Device(kMeta), extra);
  EXPECT_EQ(extra["labels.txt"], "cat dog");
  EXPECT_EQ(extra["other"], "as it was");
  EXPECT_TRUE(m.parameters()[0].is_meta());
  EXPECT_EQ(code_files(m), (std::vector<std::string>{"code/__torch__.py", "code/__torch__/net.py"}));
}

TEST(JitModule, WhatIsNotThereSaysSo) {
  const Module m = load_bytes(nested().bytes());
  EXPECT_THROW(m.save("/no/such/folder/x.pt"), IoError);
  EXPECT_THROW(Module().forward({}), ValueError);
  EXPECT_THROW(value_of("return torch.no_such_op(1)"), NotImplementedError);
  EXPECT_THROW(value_of("return torch.relu(1)"), ValueError);
}

TEST(JitModule, OldArchivesDivideIntegersAsTheyDid) {
  ScriptArchive a;
  a.code["__torch__.py"] =
      "class M(Module):\n  training : bool\n  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n    return "
      "torch.div(x, 2)\n";
  a.data = object("__torch__", "M", {{"training", "\x88"}});
  const Tensor x = full({1}, -7, kLong);
  EXPECT_EQ(load_bytes(a.bytes()).forward({x}).toTensor().item<int64_t>(), -3);
  a.version = "4\n";
  EXPECT_EQ(load_bytes(a.bytes()).forward({x}).toTensor().item<float>(), -3.5);
}

TEST(JitModule, OpsOfTheProgram) {
  Library library(Library::DEF, "jit_test", std::nullopt, __FILE__, __LINE__);
  library.def("scale(Tensor x, float by=2, *, ScalarType? dtype=None) -> Tensor",
              [](const Tensor& x, double by, std::optional<ScalarType> dtype) {
                return (x * by).to(dtype.value_or(x.dtype()));
              });
  EXPECT_EQ(value_text("x = ops.jit_test.scale(torch.ones([1]), 3, dtype=11)\nreturn (ops.prim.dtype(x), "
                       "float(ops.jit_test.scale(torch.ones([1]))))"),
            "(11, 2.)");
  EXPECT_THROW(value_of("return ops.jit_test.scale(1)"), ValueError);
  EXPECT_THROW(value_of("return ops.jit_test.other(1)"), NotImplementedError);
}

}  // namespace
}  // namespace argand::jit
