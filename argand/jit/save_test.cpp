// Archives that are written: what is read again is what was there.
#include <gtest/gtest.h>

#include <sstream>

#include "argand/autograd/dict.h"
#include "argand/core/grad_mode.h"
#include "argand/io/folder_test.h"
#include "argand/jit/archive_test.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::jit {
namespace {

using namespace testing;

// `a` and `b` are one tensor, `view` is the second element of the storage of `all`.
ScriptArchive shared() {
  ScriptArchive a;
  a.code["__torch__.py"] =
      "class Box:\n  n : int\n  parts : List[Tuple[int, str]]\n"
      "class M(Module):\n  __parameters__ = [\"all\", ]\n  __buffers__ = [\"view\", ]\n"
      "  all : Tensor\n  view : Tensor\n  a : Tensor\n  b : Tensor\n  training : bool\n"
      "  names : List[str]\n  none : List[str]\n  flags : List[bool]\n  sizes : List[int]\n  scales : List[float]\n"
      "  by : Dict[str, List[int]]\n  maybe : Optional[List[int]]\n  pair : Tuple[int, float]\n  box : __torch__.Box\n"
      "  anything : Any\n"
      "  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n"
      "    self.names = [\"b\"]\n"
      "    return torch.add(torch.mul(x, self.all), CONSTANTS.c0)\n";
  a.constants = one() + "\x85";
  const std::string whole = tensor_over(storage("0", 1), 0, {1}, {1});
  a.data = object("__torch__", "M",
                  {{"all", whole + "q\1"},
                   {"view", tensor_over(storage("0", 1), 0, {1}, {1})},
                   {"a", "h\1"},
                   {"b", "h\1"},
                   {"training", "\x88"},
                   {"names", "](" + text("a") + "e"},
                   {"none", "]"},
                   {"flags",
                    "](\x88\x89"
                    "e"},
                   {"sizes", "](K\1K\2e"},
                   {"scales", "](" + number_pickle(0.5) + "e"},
                   {"by", "}(" + text("k") + "](K\3eu"},
                   {"maybe", "N"},
                   {"pair", "K\1" + number_pickle(2.5) + "\x86"},
                   {"box", object("__torch__", "Box",
                                  {{"n", "K\7"},
                                   {"parts", "](K\1" + text("x") +
                                                 "\x86"
                                                 "e"}})},
                   {"anything", "](" + text("q") + "e"}});
  return a;
}

std::string saved(const Module& m, const ExtraFilesMap& extra = {}) {
  std::ostringstream out;
  m.save(out, extra);
  return out.str();
}

TEST(JitSave, WhatIsReadAgainIsWhatWasThere) {
  const Module m = load_bytes(shared().bytes());
  m.attr("all").toTensor().detach().fill_(3);
  const Module again = load_bytes(saved(m));
  for (const char* name : {"names", "none", "flags", "sizes", "scales", "by", "maybe", "pair", "anything"})
    EXPECT_EQ(shown(again.attr(name)), shown(m.attr(name))) << name;
  EXPECT_TRUE(again.attr("none").isGenericList());
  EXPECT_EQ(again.attr("box").toObject()->getAttr("n").toInt(), 7);
  EXPECT_EQ(shown(again.attr("box").toObject()->getAttr("parts")), shown(m.attr("box").toObject()->getAttr("parts")));
  EXPECT_EQ(again.forward({full({1}, 2.0)}).toTensor().item<float>(), 7);
  EXPECT_EQ(code_files(again), code_files(m));
  EXPECT_EQ(again.named_parameters().size(), 1);
  // Types are written, as PyTorch needs them to tell lists apart.
  const std::string bytes = saved(m);
  for (const char* tag : {"List[str]", "build_boollist", "build_intlist", "build_doublelist", "Dict[str, List[int]]",
                          "List[Tuple[int, str]]"})
    EXPECT_NE(bytes.find(tag), std::string::npos) << tag;
}

TEST(JitSave, SharedTensorsStayShared) {
  const Module m = load_bytes(shared().bytes());
  const std::string bytes = saved(m);
  const Module again = load_bytes(bytes);
  EXPECT_TRUE(again.attr("a").toTensor().is_same(again.attr("b").toTensor()));
  EXPECT_TRUE(again.attr("a").toTensor().is_same(again.attr("all").toTensor()));
  EXPECT_EQ(again.attr("view").toTensor().storage().get(), again.attr("all").toTensor().storage().get());
  // PyTorch's reader makes a storage each time it is named, so it is named once.
  const std::string data = bytes.substr(0, bytes.find("code/"));
  size_t named = 0;
  for (size_t at = data.find("FloatStorage"); at != std::string::npos; at = data.find("FloatStorage", at + 1)) ++named;
  EXPECT_EQ(named, 1);
}

TEST(JitSave, ModulesThatWereConvertedAndTrained) {
  const Module m = load_bytes(shared().bytes());
  m.to(kDouble);
  const Tensor w = m.parameters()[0];
  w.set_requires_grad(true);
  m.forward({full({1}, 2.0, kDouble)}).toTensor().sum().backward();
  {
    const NoGradGuard no_grad;
    w.sub_(w.grad());
  }
  m.eval();
  const Module again = load_bytes(saved(m));
  EXPECT_EQ(again.parameters()[0].dtype(), kDouble);
  EXPECT_TRUE(again.parameters()[0].requires_grad());
  EXPECT_EQ(again.parameters()[0].item<double>(), -1);
  EXPECT_FALSE(again.is_training());
  EXPECT_EQ(shown(again.attr("names")), "[b]");
}

TEST(JitSave, FilesAndVersions) {
  const Module m = load_bytes(shared().bytes());
  const io::testing::TestFolder folder;
  m.save(folder / "net.pt", {{"labels.txt", "cat"}, {"more/empty", ""}});
  ExtraFilesMap extra{{"labels.txt", ""}, {"more/empty", "x"}};
  (void)load(folder / "net.pt", std::nullopt, extra);
  EXPECT_EQ(extra["labels.txt"], "cat");
  EXPECT_EQ(extra["more/empty"], "");
  for (const char* name : {"", "/a", "a/", "a//b", "../a", "a/../b"})
    EXPECT_THROW(saved(m, {{name, "x"}}), ValueError) << name;
  // Ops of an old archive keep their meaning.
  ScriptArchive old;
  old.code["__torch__.py"] =
      "class M(Module):\n  training : bool\n  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n    return "
      "torch.div(x, 2)\n";
  old.data = object("__torch__", "M", {{"training", "\x88"}});
  const Tensor x = full({1}, -7, kLong);
  EXPECT_EQ(load_bytes(saved(load_bytes(old.bytes()))).forward({x}).toTensor().item<int64_t>(), -3);
  old.version = "10\n";
  EXPECT_EQ(load_bytes(saved(load_bytes(old.bytes()))).forward({x}).toTensor().item<float>(), -3.5);
}

TEST(JitSave, WhatNoArchiveHolds) {
  const Module m = load_bytes(shared().bytes());
  std::vector<IValue> inner;
  IValue deep = inner;
  for (int i = 0; i < 300; ++i) deep = std::vector<IValue>{deep};
  m.setattr("anything", deep);
  EXPECT_THROW(saved(m), ValueError);
  m.setattr("anything", IValue(m._ivalue()));  // a module that holds itself
  EXPECT_THROW(saved(m), ValueError);
  m.setattr("anything", IValue());
  m.to(kMeta);
  EXPECT_THROW(saved(m), ValueError);
}

}  // namespace
}  // namespace argand::jit
