// Archives and programs made to break the reader, the compiler or the interpreter: each is a typed error, in bounded
// time, memory and stack.
#include <gtest/gtest.h>

#include <chrono>

#include "argand/io/format_error.h"
#include "argand/jit/archive_test.h"
#include "argand/jit/call.h"
#include "argand/jit/parser.h"
#include "argand/ops/functions.h"

namespace argand::jit {
namespace {

using namespace testing;

ScriptArchive good() {
  ScriptArchive a;
  a.code["__torch__.py"] =
      "class M(Module):\n"
      "  __parameters__ = [\"w\", ]\n"
      "  w : Tensor\n"
      "  training : bool\n"
      "  sizes : List[int]\n"
      "  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n"
      "    s = 0\n"
      "    for i in range(torch.len(self.sizes)):\n"
      "      s = torch.add(s, self.sizes[i])\n"
      "    return torch.mul(torch.add(x, CONSTANTS.c0), s)\n";
  a.data = object(
      "__torch__", "M",
      {{"w", one()}, {"training", "\x88"}, {"sizes", global("torch.jit._pickle", "build_intlist") + "](K\1K\2e\x85R"}});
  a.constants = one() + "\x85";
  return a;
}

std::string error_of(const ScriptArchive& a) {
  try {
    const Module m = load_bytes(a.bytes());
    compile_all(m);
    m.forward({ones({1})});
  } catch (const Error& e) {
    return e.msg();
  }
  return "";
}
void expect_error(const ScriptArchive& a, const std::string& says) {
  const std::string error = error_of(a);
  EXPECT_NE(error.find(says), std::string::npos) << "expected '" << says << "', got '" << error << "'";
}
std::string body_error(const std::string& body, const std::string& before = "") {
  try {
    value_of(body, before);
  } catch (const Error& e) {
    return e.msg();
  }
  return "";
}

// Reading an archive runs nothing: defaults and constants of classes are constants.
TEST(BadArchive, NothingRunsWhileItIsRead) {
  for (const char* value : {"__torch__.spin()", "torch.mul(\"a\", 200000000)", "torch.add(1, 1)", "[1] * 2", "self"}) {
    ScriptArchive a = good();
    a.code["__torch__.py"] += std::string("  def other(self: __torch__.M, n: int=") + value +
                              ") -> int:\n    return n\ndef spin() -> int:\n  while True:\n    x = 0\n  return x\n";
    expect_error(a, "expected a constant");
  }
}

TEST(BadArchive, ConstantsAreNoObjects) {
  ScriptArchive a = good();
  a.constants = a.data + "\x85";
  expect_error(a, "a constant that is an object");
}

TEST(BadArchive, RepetitionsAreBounded) {
  for (const char* body : {"return torch.len(torch.mul([1], 4611686018427387904))", "return \"ab\" * 9000000000000000",
                           "return torch.len(torch.rangelist(9000000000000000))"})
    EXPECT_NE(body_error(body).find("is too long"), std::string::npos) << body << ": " << body_error(body);
}

// Every cut and every flipped bit: an error of ours, or a good archive; and never anything else.
TEST(BadArchive, EveryCutAndEveryBit) {
  const std::string bytes = good().bytes();
  EXPECT_EQ(load_bytes(bytes).forward({ones({1})}).toTensor().item<float>(), 6);
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_THROW(load_bytes(bytes.substr(0, n)), io::FormatError) << n;
  size_t loaded = 0;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    try {
      load_bytes(damaged);
      ++loaded;  // times and versions of headers, say, that nothing depends on
    } catch (const Error&) {
    }
  }
  EXPECT_LT(loaded, 8 * bytes.size() / 10);
}

// The checksums are right, and the code is not: what the parser and the compiler get.
TEST(BadArchive, EveryCutAndEveryBitOfTheCode) {
  const std::string code = good().code["__torch__.py"];
  const auto compiles = [](const std::string& changed) {
    ScriptArchive a = good();
    a.code["__torch__.py"] = changed;
    try {
      compile_all(load_bytes(a.bytes()));
    } catch (const Error&) {
    }
  };
  for (size_t n = 0; n < code.size(); ++n) compiles(code.substr(0, n));
  for (size_t bit = 0; bit < 8 * code.size(); ++bit) {
    std::string damaged = code;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    compiles(damaged);
  }
}

TEST(BadArchive, EveryBitOfThePickles) {
  for (std::string ScriptArchive::*record : {&ScriptArchive::data, &ScriptArchive::constants}) {
    const std::string pickled = good().*record;
    for (size_t bit = 0; bit < 8 * pickled.size(); ++bit) {
      ScriptArchive a = good();
      (a.*record)[bit / 8] = static_cast<char>((a.*record)[bit / 8] ^ 1 << bit % 8);
      (void)error_of(a);
    }
  }
}

TEST(BadArchive, DataThatIsNoModule) {
  ScriptArchive a = good();
  a.data = "K\1";
  expect_error(a, "expected a module");
  a = good();
  a.data = object("__torch__", "N", {});
  expect_error(a, "__torch__.N, which is no class of the code");
  a = good();
  a.data = object("__torch__", "M", {{"w", one()}, {"training", "\x88"}});
  expect_error(a, "lacks the attribute 'sizes'");
  a.data = object("__torch__", "M", {{"w", one()}, {"training", "\x88"}, {"sizes", "]"}, {"v", "N"}});
  expect_error(a, "an attribute 'v' that its class does not declare");
  a.data = object("__torch__", "M", {{"w", one()}, {"training", "K\1"}, {"sizes", "]"}});
  expect_error(a, "expected a value of type bool");
  a = good();
  a.constants = "K\1";
  expect_error(a, "expected a tuple");
  a = good();
  a.constants = ")";
  expect_error(a, "there is no constant CONSTANTS.c0");
  a = good();
  a.data = global("os", "system") + text("id") + "\x85R";
  expect_error(a, "os.system is refused");
  a = good();
  a.code = {};
  expect_error(a, "no class of the code");
}

TEST(BadArchive, Code) {
  const auto expect = [](const std::string& body, const std::string& says) {
    const std::string error = body_error(body);
    EXPECT_NE(error.find(says), std::string::npos) << "expected '" << says << "', got '" << error << "'";
  };
  expect("return x", "code/__torch__.py:6: the name x is not defined");
  expect("if True:\n  x = 1\nelse:\n  pass\nreturn x", "the variable x may be read before it is set");
  expect("for i in range(3):\n  y = i\nreturn y", "the variable y may be read before it is set");
  expect("return open(\"f\")", "the function open is not defined");
  expect("return __import__(\"os\")", "the function __import__ is not defined");
  expect("import os\nreturn 1", "expected an expression, got 'import'");
  expect("return os.system(\"id\")", "the name os is not defined");
  expect("return torch.ops.load_library(\"x\")", "the function torch.ops.load_library is not supported");
  expect("return torch.load(\"x\")", "no such op");
  expect("return torch.from_file(\"/etc/passwd\")", "no such op");
  expect("return (1).__class__", "has no attribute '__class__'");
  expect("return \"a\".__reduce__()", "no such op");
  expect("return self.__dict__", "has no attribute '__dict__'");
  expect("x = lambda: 1\nreturn 1", "expected an expression, got 'lambda'");
  expect("return 99999999999999999999", "an integer beyond 64 bits");
  expect("return \"abc", "a text that does not end");
  expect("return (1, 2", "bracket that is not closed");
  expect("try:\n  x = 1\nexcept:\n  x = 2\nreturn x", "this statement is not supported");
  expect("x : Foo = 1\nreturn x", "the type Foo is not supported");
  expect("return 1 // 0", "ZeroDivisionError");
  expect("return [1][5]", "out of range");
  expect("return {1: 2}[3]", "KeyError: 3");
  expect("return int(1e300)", "has no value as an int");
  expect("return {[1]: 2}", "expected a key");
  expect("a, b = [1]\nreturn a", "expected 2 values to unpack, got 1");
  expect("return torch.tensor([[1], [2, 3]])", "equal lengths");
  expect("return uninitialized(int) + 1", "expected arguments of one of the following");
}

TEST(BadArchive, DepthIsBounded) {
  const auto repeated = [](const std::string& part, size_t n) {
    std::string out;
    for (size_t i = 0; i < n; ++i) out += part;
    return out;
  };
  EXPECT_NE(body_error("return " + repeated("(", 100'000) + "1" + repeated(")", 100'000)).find("nested deeper"),
            std::string::npos);
  EXPECT_NE(body_error("return " + repeated("-", 100'000) + "x").find("nested deeper"), std::string::npos);
  EXPECT_NE(body_error("return 1" + repeated(" + 1", 100'000)).find("nested deeper"), std::string::npos);
  EXPECT_NE(body_error("return self" + repeated(".a", 100'000)).find("nested deeper"), std::string::npos);
  std::string blocks;
  for (size_t i = 0; i < 5000; ++i) blocks += std::string(i, ' ') + "if True:\n";
  EXPECT_NE(body_error(blocks + std::string(5000, ' ') + "pass\nreturn 1").find("nested deeper"), std::string::npos);
  EXPECT_NE(body_error("return __torch__.f(1)", "def f(x: int) -> int:\n  return __torch__.f(x)\n")
                .find("call each other too deeply"),
            std::string::npos);
  // Each of the calls stands in an expression as deep as it may be.
  const std::string deep =
      "def f(x: int) -> int:\n  return " + repeated("torch.neg(", 100) + "__torch__.f(x)" + repeated(")", 100) + "\n";
  EXPECT_NE(body_error("return __torch__.f(1)", deep).find("call each other too deeply"), std::string::npos);
}

// Containers as deep as a loop makes them are freed, and refused where all of a value is visited.
TEST(BadArchive, DeepValues) {
  EXPECT_EQ(
      value_text("x = annotate(List[Any], [])\nfor i in range(200000):\n  x = annotate(List[Any], [x])\nreturn len(x)"),
      "1");
  EXPECT_EQ(
      value_text("r = annotate(List[Any], [])\nc = r\nfor i in range(200000):\n  n = annotate(List[Any], [])\n  _0 = "
                 "torch.append(c, n)\n  c = n\nreturn len(r)"),
      "1");
  const std::string deep = "x = annotate(List[Any], [])\nfor i in range(200000):\n  x = annotate(List[Any], [x])\n";
  for (const char* use : {"return str(x)", "return x == x", "return torch.tensor(x)"})
    EXPECT_NE(body_error(deep + use).find("nested deeper than"), std::string::npos) << use;
}

TEST(BadArchive, TimeAndMemory) {
  // Loops inside each other: the compiler's work must not double with each.
  std::string loops, indent;
  for (int i = 0; i < 60; ++i) {
    loops += indent + str("for i", i, " in range(0):\n");
    indent += "  ";
  }
  loops += indent + "x = x + 1\n";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(value_text("x = 0\n" + loops + "return x"), "0");
  std::string many = "x = 0\n";
  for (int i = 0; i < 20'000; ++i) many += str("if x > ", i, ":\n  y", i, " = x\nelse:\n  y", i, " = 0\n");
  EXPECT_EQ(value_text(many + "return y19999"), "0");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their allocators end the program instead
  EXPECT_THROW(value_of("return torch.zeros([4611686018427387904])"), Error);
#endif
}

TEST(BadArchive, CompressedCode) {
  ScriptArchive a = good();
  Archive archive = a.archive();
  for (Member& m : archive.members)
    if (m.name == "a/code/__torch__.py") m.method = 8;  // what follows is no deflate
  EXPECT_THROW(load_bytes(archive.bytes()), io::FormatError);
}

}  // namespace
}  // namespace argand::jit
