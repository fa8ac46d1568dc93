// Archives of _save_for_lite_interpreter (.ptl), which have bytecode beside the code.
#include <gtest/gtest.h>

#include "argand/jit/archive_test.h"

namespace argand::jit {
namespace {

using namespace testing;

ScriptArchive small() {
  ScriptArchive a;
  a.code["__torch__.py"] =
      "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
      "  def forward(self: __torch__.M) -> int:\n    return 7\n";
  a.data = object("__torch__", "M", {{"training", "\x88"}});
  return a;
}

TEST(LiteArchive, RunsByItsCode) {
  Archive a = small().archive();
  a.members.push_back({"a/bytecode.pkl", "not read"});
  a.members.push_back({"a/mobile_debug_handles.pkl", "not read"});
  EXPECT_EQ(load_bytes(a.bytes()).forward({}).toInt(), 7);
}

TEST(LiteArchive, BytecodeAloneIsRefused) {
  Archive a = small().archive();
  std::erase_if(a.members, [](const io::testing::Member& m) { return m.name.starts_with("a/code/"); });
  a.members.push_back({"a/bytecode.pkl", "not read"});
  EXPECT_THROW(load_bytes(a.bytes()), IoError);
}

TEST(LiteArchive, FlatbuffersAreRefused) {
  for (const std::string bytes : {"....PTMF", "....PTMF and more", "....PTM", "PTMF"}) try {
      load_bytes(bytes);
      ADD_FAILURE() << bytes;
    } catch (const IoError& e) {
      EXPECT_EQ(std::string(e.what()).find("flatbuffer") != std::string::npos, bytes.starts_with("....PTMF"))
          << e.what();
    }
}

}  // namespace
}  // namespace argand::jit
