#include "argand/runtime/cuda/kernel_pack.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "argand/base/sha256.h"

namespace argand::cuda {
namespace {

const std::string kKeys[] = {sha256_hex("a"), sha256_hex("b"), sha256_hex("c")};

std::string two_modules() {
  return pack_bytes({{{kKeys[0], kKeys[1]}, {std::string(300, 'x') + std::string(1, '\0') + "y", {"first", "second"}}},
                     {{kKeys[2]}, {"code of c", {"third"}}}});
}

class KernelPackTest : public ::testing::Test {
 protected:
  ~KernelPackTest() override { std::filesystem::remove(path_); }
  KernelPack pack_of(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return KernelPack(path_);
  }
  // The code of a kernel if the pack has it undamaged; its name must then be right.
  static std::optional<std::string> code_of(const KernelPack& pack, const std::string& key, const std::string& name) {
    const auto place = pack.find(key);
    if (!place) return {};
    const auto module = pack.read(place->module);
    if (!module) return {};
    EXPECT_LT(place->name, module->names.size());
    EXPECT_EQ(module->names.at(place->name), name);
    return module->code;
  }
  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("argand_pack_test" + std::to_string(getpid()))).string();
};

TEST_F(KernelPackTest, GivesBackWhatWentIn) {
  const KernelPack pack = pack_of(two_modules());
  EXPECT_EQ(pack.size(), 3u);
  EXPECT_EQ(pack.nbytes(), two_modules().size());
  const std::string first = std::string(300, 'x') + std::string(1, '\0') + "y";
  EXPECT_EQ(code_of(pack, kKeys[0], "first"), first);
  EXPECT_EQ(code_of(pack, kKeys[1], "second"), first);
  EXPECT_EQ(code_of(pack, kKeys[2], "third"), "code of c");
  EXPECT_FALSE(pack.find(sha256_hex("d")));
  EXPECT_FALSE(pack.read(2));
}

TEST_F(KernelPackTest, WithoutAFileItIsEmpty) {
  const KernelPack none("/nonexistent/file"), folder("/tmp"), empty("");
  for (const KernelPack* pack : {&none, &folder, &empty}) {
    EXPECT_EQ(pack->size(), 0u);
    EXPECT_EQ(pack->nbytes(), 0u);
    EXPECT_FALSE(pack->find(kKeys[0]));
    EXPECT_FALSE(pack->read(0));
  }
  EXPECT_EQ(pack_of(pack_bytes({})).size(), 0u);
}

// After any damage, each kernel is unchanged or missing.
TEST_F(KernelPackTest, DamageIsAbsence) {
  const std::string good = two_modules();
  size_t whole = 0;
  const auto check = [&](const std::string& bytes, const std::string& what) {
    const KernelPack pack = pack_of(bytes);
    const auto first = code_of(pack, kKeys[0], "first"), third = code_of(pack, kKeys[2], "third");
    EXPECT_TRUE(!first || first->size() == 302) << what;
    EXPECT_TRUE(!third || *third == "code of c") << what;
    whole += first && third;
  };
  for (size_t n = 0; n < good.size(); ++n) check(good.substr(0, n), "cut to " + std::to_string(n));
  EXPECT_EQ(whole, 0u) << "a file that was cut short has lost something";
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    check(bad, "byte " + std::to_string(at));
  }
  EXPECT_EQ(whole, 0u) << "no byte of the file is without meaning";
}

// A forged index with a correct digest.
TEST_F(KernelPackTest, AForgedIndexAsksForNothingBeyondTheFile) {
  std::string index;
  const auto put = [&](auto x) { index.append(reinterpret_cast<const char*>(&x), sizeof(x)); };
  put(uint32_t{1});
  put(uint32_t{1});
  put(uint64_t{1} << 62);  // offset
  put(uint32_t{0xFFFFFFFF});
  put(uint32_t{0xFFFFFFFF});
  index += std::string(16, 'd');
  index += std::string(16, '\0');  // key
  put(uint32_t{7});                // a module that there is not
  put(uint32_t{9});
  std::string file = "argandK1";
  const auto digest = Sha256().update(index).digest();
  file.append(reinterpret_cast<const char*>(digest.data()), digest.size());
  const auto size = static_cast<uint32_t>(index.size());
  file.append(reinterpret_cast<const char*>(&size), sizeof(size));
  const KernelPack pack = pack_of(file + index);
  ASSERT_EQ(pack.size(), 1u);
  const auto place = pack.find(std::string(64, '0'));
  ASSERT_TRUE(place);
  EXPECT_FALSE(pack.read(place->module));
  EXPECT_FALSE(pack.read(0));
}

// The key covers everything that a kernel is made of: after any change the old code is not found.
TEST(ContentKey, ChangesWithAllThatTheCodeDependsOn) {
  const KernelRequest r{"#include \"argand/kernels/cuda/index.cuh\"\n__global__ void f() {}\n", "f"};
  const std::string key = content_key(r, "sm_90");
  EXPECT_EQ(key, content_key(r, "sm_90"));
  EXPECT_EQ(key.size(), 64u);
  EXPECT_NE(key, content_key(r, "sm_80"));
  EXPECT_NE(key, content_key({r.source, "g"}, "sm_90"));
  EXPECT_NE(key, content_key({r.source + " ", "f"}, "sm_90"));
  EXPECT_NE(content_key({"#include \"argand/kernels/cuda/reduce.cuh\"\n", "f"}, "sm_90"),
            content_key({"#include \"argand/kernels/cuda/softmax.cuh\"\n", "f"}, "sm_90"));
}

TEST(Ptx, OfOneKernelKeepsWhatIsShared) {
  const std::string head = ".version 9.0\n.target sm_80\n.global .f32 table[2];\n",
                    helper = ".func help()\n{\n ret;\n}\n",
                    a = ".visible .entry f(\n .param .u64 p\n)\n{\n { nested }\n ret;\n}\n",
                    b = ".visible .entry f2(\n)\n{\n ret;\n}\n";
  const std::string all = head + a + helper + b;
  EXPECT_EQ(ptx_of_one(all, "f"), head + a + helper);
  EXPECT_EQ(ptx_of_one(all, "f2"), head + helper + b);
  EXPECT_EQ(ptx_of_one(all, "g"), head + helper);
  EXPECT_EQ(ptx_of_one("", "f"), "");
  EXPECT_EQ(ptx_of_one(head + ".visible .entry f(", "f"), head + ".visible .entry f(") << "cut: the driver refuses it";
}

TEST(Ptx, OfTwoKernelsCompiledTogether) {
  const std::string names[] = {"f<float>", "f<double>"};
  std::string ptx;
  const MachineCode both =
      compile_text("template <class T> __global__ void f(T* p) { *p = T(1); }\n", names, "sm_80", &ptx);
  EXPECT_EQ(ptx.find(char{0}), std::string::npos) << "a driver stops there, ptxas complains";
  for (int i = 0; i < 2; ++i) {
    const std::string one = ptx_of_one(ptx, both.names[i]);
    EXPECT_NE(one.find(".entry " + both.names[i] + "("), std::string::npos);
    EXPECT_EQ(one.find(".entry " + both.names[1 - i] + "("), std::string::npos);
    EXPECT_NE(one.find(".target sm_80"), std::string::npos);
  }
}

// On any GPU from sm_90 on, a driver takes the PTX that is meant for newer ones.
TEST(Ptx, OfThePackLoads) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "there is no GPU";
  if (kernel_pack().size() == 0) GTEST_SKIP() << "there is no pack";
  int tried = 0;
  for (uint32_t i = 0; const std::optional<MachineCode> module = kernel_pack().read(i); i += 4) {
    if (module->code.compare(0, 2, "//") != 0) continue;
    const std::string one = ptx_of_one(module->code, module->names.back());
    cudaLibrary_t library = nullptr;
    ASSERT_EQ(cudaLibraryLoadData(&library, one.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0), cudaSuccess);
    cudaKernel_t kernel = nullptr;
    EXPECT_EQ(cudaLibraryGetKernel(&kernel, library, module->names.back().c_str()), cudaSuccess);
    cudaFuncAttributes attributes{};
    EXPECT_EQ(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)), cudaSuccess);
    EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);
    ++tried;
  }
  EXPECT_GT(tried, 10);
}

TEST(PackedArch, IsThatOfTheSameMajorVersionOrPtx) {
  EXPECT_EQ(packed_arch(7), "");
  EXPECT_EQ(packed_arch(8), "sm_80");
  EXPECT_EQ(packed_arch(9), "sm_90");
  EXPECT_EQ(packed_arch(10), kPackedPtx);
  EXPECT_EQ(packed_arch(12), kPackedPtx);
}

}  // namespace
}  // namespace argand::cuda
