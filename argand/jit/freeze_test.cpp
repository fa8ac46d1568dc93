// Freezing: results stay, attributes that never change become constants.
#include <gtest/gtest.h>

#include <sstream>

#include "argand/jit/archive_test.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::jit {
namespace {

using namespace testing;

// Outer calls Inner twice; both have state of several kinds.
ScriptArchive network() {
  ScriptArchive a;
  a.code["__torch__/net.py"] =
      "def twice(x: Tensor) -> Tensor:\n"
      "  return torch.add(x, x)\n"
      "class Inner(Module):\n"
      "  __parameters__ = [\"weight\", ]\n"
      "  __buffers__ = [\"seen\", \"calls\", ]\n"
      "  weight : Tensor\n  seen : Tensor\n  calls : Tensor\n  training : bool\n  bias : Optional[Tensor]\n"
      "  by : Final[List[int]] = [2, 3]\n"
      "  def forward(self: __torch__.net.Inner, x: Tensor) -> Tensor:\n"
      "    weight = self.weight\n"
      "    training = self.training\n"
      "    if training:\n"
      "      self.calls = torch.add(self.calls, 1)\n"
      "      y = torch.mul(x, 100)\n"
      "    else:\n"
      "      y = torch.mul(x, weight)\n"
      "    if torch.__isnot__(self.bias, None):\n"
      "      y = torch.add(y, unchecked_cast(Tensor, self.bias))\n"
      "    _0 = torch.add_(self.seen, 1)\n"
      "    return torch.mul(__torch__.net.twice(y), (self.by)[1])\n";
  a.code["__torch__.py"] =
      "class Outer(Module):\n"
      "  __parameters__ = []\n  __buffers__ = []\n"
      "  training : bool\n  total : int\n  names : List[str]\n  scale : Tensor\n"
      "  __annotations__ = []\n  __annotations__[\"b-0\"] = __torch__.net.Inner\n"
      "  def forward(self: __torch__.Outer, x: Tensor) -> Tuple[Tensor, int]:\n"
      "    _0 = getattr(self, \"b-0\")\n"
      "    total = self.total\n"
      "    self.total = torch.add(total, 1)\n"
      "    y = (_0).forward((_0).forward(x, ), )\n"
      "    names = self.names\n"
      "    return (torch.mul(y, self.scale), torch.add(self.total, torch.len(names)))\n"
      "  def text(self: __torch__.Outer, by: float=0.5) -> str:\n"
      "    return torch.format(\"{} \\\"{}\\\"\\n\", (self.names)[0], by)\n";
  const auto tensor = [](const char* key) { return tensor_over(storage(key, 1), 0, {1}, {1}); };
  const std::string inner = object(
      "__torch__.net", "Inner",
      {{"weight", tensor("0")}, {"seen", tensor("1")}, {"calls", tensor("2")}, {"training", "\x88"}, {"bias", "N"}});
  a.data = object("__torch__", "Outer",
                  {{"training", "\x88"},
                   {"total", "K\5"},
                   {"names", "](" + text("n") + "e"},
                   {"scale", tensor_over(storage("3", 1), 0, {}, {})},
                   {"b-0", inner}});
  return a;
}
Module made() {
  Archive archive = network().archive();
  for (const char* key : {"1", "2", "3"}) archive.members.push_back({std::string("a/data/") + key, kFour});
  const Module m = load_bytes(archive.bytes());
  m.eval();
  return m;
}
std::pair<float, int64_t> run(const Module& m) {
  const IValue out = m.forward({full({1}, 2.0)});
  return {out.toTupleRef().elements()[0].toTensor().item<float>(), out.toTupleRef().elements()[1].toInt()};
}
std::string text_of_frozen(const Module& m) { return code_text(m, "code/__torch__/frozen.py"); }

TEST(JitFreeze, ResultsStayAndParametersGo) {
  const Module m = made(), frozen = freeze(m), reference = made();
  EXPECT_TRUE(frozen.parameters().empty());
  EXPECT_TRUE(frozen.children().empty());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(frozen), run(reference));
  EXPECT_FALSE(frozen.hasattr("training"));
  EXPECT_FALSE(frozen.find_method("text"));
  EXPECT_EQ(frozen.type()->name()->name(), "Outer");
  const std::string code = text_of_frozen(frozen);
  EXPECT_EQ(code.find("100"), std::string::npos) << code;   // the branch of training
  EXPECT_EQ(code.find("bias"), std::string::npos) << code;  // a branch of what is None
  EXPECT_EQ(code.find("calls"), std::string::npos) << code;
}

// Attributes that the program changes, or may change, stay attributes: a number that is set, a tensor that is changed
// in place, a list.
TEST(JitFreeze, WhatChangesStaysAnAttribute) {
  const Module frozen = freeze(made());
  std::vector<std::string> names;
  for (const Named<IValue>& a : frozen.named_attributes(false)) names.push_back(a.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"b_0_seen", "names", "total"}));
  EXPECT_EQ(frozen.buffers().size(), 1);
  (void)run(frozen);
  EXPECT_EQ(frozen.attr("total").toInt(), 6);
  EXPECT_EQ(frozen.attr("b_0_seen").toTensor().item<float>(), 3);
}

// linalg_diagonal is written in other ops; that its result is a view stands in its schema alone.
TEST(JitFreeze, ATensorThatIsChangedThroughAViewStaysAnAttribute) {
  ScriptArchive a;
  a.code["__torch__.py"] =
      "class Grows(Module):\n"
      "  __parameters__ = []\n  __buffers__ = [\"m\", ]\n"
      "  training : bool\n  m : Tensor\n"
      "  def forward(self: __torch__.Grows) -> Tensor:\n"
      "    diagonal = torch.linalg_diagonal(self.m)\n"
      "    _0 = torch.add_(diagonal, 1)\n"
      "    return self.m\n";
  a.data = object("__torch__", "Grows", {{"training", "\x89"}, {"m", tensor_over(storage("0", 4), 0, {2, 2}, {2, 1})}});
  Archive archive = a.archive();
  for (auto& m : archive.members)
    if (m.name == "a/data/0") m.bytes = std::string(16, '\0');
  const Module frozen = freeze(load_bytes(archive.bytes()));
  EXPECT_EQ(frozen.buffers().size(), 1);
  EXPECT_EQ(frozen.forward({}).toTensor().sum().item<float>(), 2);
}

TEST(JitFreeze, FrozenModulesAreSaved) {
  const Module frozen = freeze(made());
  std::ostringstream out;
  frozen.save(out);
  const Module again = load_bytes(out.str());
  EXPECT_EQ(code_text(again, "code/__torch__/frozen.py"), text_of_frozen(frozen));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(again), run(frozen));
  // Freezing again takes another name.
  const Module twice = freeze(again);
  EXPECT_EQ(run(twice), run(frozen));
  EXPECT_EQ(twice.type()->str(), "__torch__.frozen_1.Outer");
}

TEST(JitFreeze, WhatIsPreserved) {
  const Module m = made(), frozen = freeze(m, std::vector<std::string>{"text", "scale", "b-0"});
  EXPECT_EQ(frozen.run_method("text").toStringRef(), "n \"0.5\"\n");
  EXPECT_EQ(frozen.run_method("text", 2).toStringRef(), "n \"2.\"\n");
  frozen.attr("scale").toTensor().fill_(10);
  const Module inner = frozen.attr("b-0").toModule();
  EXPECT_EQ(inner.parameters().size(), 1);
  inner.parameters()[0].detach().fill_(0);
  EXPECT_EQ(run(frozen).first, 0);
  EXPECT_TRUE(optimize_for_inference(made(), {"text"}).find_method("text"));
}

TEST(JitFreeze, WhatIsRefused) {
  const Module m = made();
  EXPECT_THROW(freeze(m, std::vector<std::string>{"nothing"}), ValueError);
  m.train();
  EXPECT_THROW(freeze(m), ValueError);
  // A module that is passed on.
  ScriptArchive a = network();
  a.code["__torch__.py"] += "  def pass_on(self: __torch__.Outer) -> bool:\n    return torch.__is__(self, None)\n";
  Archive archive = a.archive();
  for (const char* key : {"1", "2", "3"}) archive.members.push_back({std::string("a/data/") + key, kFour});
  const Module passes = load_bytes(archive.bytes());
  passes.eval();
  EXPECT_THROW(freeze(passes, std::vector<std::string>{"pass_on"}), NotImplementedError);
  EXPECT_NO_THROW(freeze(passes));
}

// A long chain of calls, each inside of brackets, is refused before it fills the stack.
TEST(JitFreeze, DepthIsBounded) {
  std::string functions;
  constexpr int kCount = 5000;
  for (int i = 0; i < kCount; ++i)
    functions += str("def f", i, "(x: Tensor) -> Tensor:\n  return ", std::string(60, '('),
                     i + 1 < kCount ? str("__torch__.f", i + 1, "(x)") : "x", std::string(60, ')'), "\n");
  const Module m =
      module_of("  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n    return __torch__.f0(x)\n", functions);
  m.eval();
  EXPECT_THROW(freeze(m), ValueError);
}

// A tensor without dimensions is no number: it has a part in type promotion as it had before.
TEST(JitFreeze, TensorsWithoutDimensionsStayTensors) {
  const Module frozen = freeze(made());
  EXPECT_NE(text_of_frozen(frozen).find("torch.select("), std::string::npos);
}

// Every construct of the language is printed as code that means the same.
TEST(JitFreeze, CodeIsPrintedAgain) {
  const std::string body =
      "    a = [1, 2, 3]\n"
      "    b : Dict[str, int] = {\"x\": 1, \"y\\n\\303\\251\": -2}\n"
      "    c, d = (1, 2.5)\n"
      "    t = 0\n"
      "    for i in range(3):\n"
      "      if i == 1:\n"
      "        t = t + (i if not (i > 5) else -i) * 2\n"
      "      elif i == 2 and True or False:\n"
      "        t += 10\n"
      "      else:\n"
      "        pass\n"
      "    while t < 20:\n"
      "      t = t + 1\n"
      "    for k, v in b.items():\n"
      "      t = t + v\n"
      "    assert t > 0, \"no\"\n"
      "    s = a[1:]\n"
      "    u = \"abc\"[::-1]\n"
      "    if t < 0:\n"
      "      raise ValueError(\"x\")\n"
      "    else:\n"
      "      pass\n"
      "    e = (2 ** 3) - (-2) ** 2\n"
      "    f = torch.sub(torch.ones([2, 2]), 1, alpha=2)[0]\n"
      "    return (a, b, c, d, t, s, u, e, f, 1e-05, inf, 1e100, ~5, 7 // 2 % 3)\n";
  const Module m = module_of("  def forward(self: __torch__.M, *, x: int=3):\n" + body);
  m.eval();
  const Module frozen = freeze(m);
  EXPECT_EQ(shown(frozen.forward({})), shown(m.forward({}))) << text_of_frozen(frozen);
}

}  // namespace
}  // namespace argand::jit
