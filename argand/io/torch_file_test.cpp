// Files that PyTorch wrote (tests/data/checkpoints/make.py), round trips, and damage.
#include "argand/io/torch_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "argand/io/bad_input_test.h"
#include "argand/io/folder_test.h"
#include "argand/io/format_error.h"
#include "argand/io/load.h"
#include "argand/io/safetensors.h"
#include "argand/ops/functions.h"

namespace argand::io {
namespace {

using testing::content_of;
using testing::TestFolder;
using Kind = Value::Kind;

const std::string kStored = "tests/data/checkpoints/";

LoadOptions to_cpu() {
  LoadOptions options;
  options.map_location = [](const std::string&) { return Device(kCPU); };
  return options;
}

std::string bytes_of(const Value& value) {
  std::string out;
  write_torch(value, "archive",
              [&](const void* data, size_t count) { out.append(static_cast<const char*>(data), count); });
  return out;
}
Value loaded(std::string_view bytes) { return load_torch(MemorySource("memory", bytes)); }

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.msg();
  }
  return "nothing was thrown";
}

TEST(TorchFile, WhatPyTorchWrote) {
  const Value v = load_torch(InputFile(kStored + "values.pt"));
  EXPECT_EQ(v["transposed"].tensor().strides(), IntArrayRef({1, 3}));
  EXPECT_TRUE(equal(v["transposed"].tensor(), arange(6, kFloat).view({2, 3}).t()));
  EXPECT_TRUE(v["row"].tensor().is_alias_of(v["transposed"].tensor())) << "shared storages stay shared";
  EXPECT_EQ(v["row"].tensor().storage_offset(), 3);
  EXPECT_EQ(v["parameter"].kind(), Kind::kParameter);
  EXPECT_TRUE(v["parameter"].tensor().requires_grad());
  EXPECT_EQ(v["parameter"].attributes()["note"].text(), "attribute");
  EXPECT_EQ(v["model"].kind(), Kind::kOrderedDict);
  EXPECT_EQ(v["model"].key(2).text(), "running_mean");
  EXPECT_EQ(v["model"].attributes()["_metadata"][""]["version"].to_int(), 2);
  EXPECT_EQ(v["model"]["num_batches_tracked"].tensor().dim(), 0);
  EXPECT_EQ(v["size"].kind(), Kind::kSize);
  EXPECT_EQ(v["dtype"].dtype(), kHalf);
  EXPECT_EQ(v["device"].device(), Device("cuda:1"));
  EXPECT_EQ(v["complex"].to_complex(), std::complex<double>(1, 2));
  EXPECT_EQ(v["bytes"].text(), "a\xff");
  EXPECT_EQ(v["bytes"].kind(), Kind::kBytes);
  EXPECT_EQ(v["empty"].kind(), Kind::kBytes);
  EXPECT_EQ(v["bytearray"].kind(), Kind::kByteArray);
  EXPECT_EQ(v["set"].kind(), Kind::kSet);
  EXPECT_EQ(v["frozenset"][0].to_int(), 2);
  EXPECT_EQ(v["big"].text(), "-1180591620717411303424");
  EXPECT_EQ(v["int"].to_int(), -5);
  EXPECT_TRUE(v["none"].is_none());
  EXPECT_EQ(v["tuple"][1][0].to_double(), 2.5);
  EXPECT_TRUE(v["tuple"][1][1].to_bool());
  EXPECT_EQ(v["tuple"].identity(), v["again"].identity());
  EXPECT_EQ(v["counter"]["a"].to_int(), 2);
  EXPECT_EQ(v["defaultdict"].text(), "list");
  EXPECT_TRUE(v["slice"][1].is_none());
  EXPECT_EQ(v["range"][1].to_int(), 3);
  EXPECT_EQ(v["no elements"].tensor().sizes(), IntArrayRef({0, 3}));
  EXPECT_TRUE(equal(view_as_real(v["conjugate"].tensor()),
                    arange(1, 3, kFloat).mul(cat({ones({1}), full({1}, -1)})).view({1, 2})));
  EXPECT_EQ(v["expanded"].tensor().strides(), IntArrayRef({0}));
  EXPECT_TRUE(v["meta"].tensor().is_meta());
  EXPECT_EQ(v["text"].text(), "\xC3\xA9\xF0\x9F\x99\x82");
  EXPECT_EQ(v.find(Value::tuple({"tuple", 1}))->text(), "key");
  const Value& dtypes = v["dtypes"];
  ASSERT_EQ(dtypes.size(), 10U);
  const ScalarType expected[] = {kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kDouble, kComplexDouble, kBool};
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(dtypes[i].tensor().dtype(), expected[i]);
    EXPECT_TRUE(equal(dtypes[i].tensor(), cat({ones({1}), zeros({1})}).to(expected[i]))) << str(expected[i]);
  }
  // And once more through our own writer.
  const Value again = loaded(bytes_of(v));
  EXPECT_TRUE(equal(again["row"].tensor(), v["row"].tensor()));
  EXPECT_TRUE(again["row"].tensor().is_alias_of(again["transposed"].tensor()));
  EXPECT_EQ(again["parameter"].attributes()["note"].text(), "attribute");
  EXPECT_EQ(again["big"].text(), v["big"].text());
  EXPECT_EQ(again["model"].attributes()["_metadata"][""]["version"].to_int(), 2);
  EXPECT_EQ(again["tuple"].identity(), again["again"].identity());
  EXPECT_EQ(bytes_of(again), bytes_of(v));
}

TEST(TorchFile, TheFormatBeforeZip) {
  const Value v = load(kStored + "legacy.pt");
  EXPECT_TRUE(equal(v["a"].tensor(), arange(6, kFloat).view({2, 3}).t()));
  EXPECT_TRUE(v["b"].tensor().is_alias_of(v["a"].tensor()));
  EXPECT_TRUE(equal(v["c"].tensor(), cat({ones({1}), zeros({1})}).to(kBool)));
}

TEST(TorchFile, ScriptsAndArchivesOfLibTorchAreData) {
  const Value script = load(kStored + "script.pt");
  EXPECT_EQ(script.kind(), Kind::kObject);
  EXPECT_EQ(script["count"].to_int(), 5);
  const StateDict state = load_state_dict(kStored + "script.pt");
  EXPECT_EQ(state.keys(), (std::vector<std::string>{"steps", "linear.weight", "linear.bias"}));
  EXPECT_TRUE(equal(*state.find("linear.weight"), full({1, 2}, 3, kFloat)));
  const Value archive = load(kStored + "libtorch.pt");
  EXPECT_EQ(archive["i"].to_int(), 5);
  EXPECT_EQ(archive["l"][1].to_int(), 2);
  EXPECT_TRUE(equal(archive["t"].tensor(), arange(6).view({2, 3}).t()));
  EXPECT_TRUE(archive["inner"]["x"].tensor().requires_grad());
}

TEST(TorchFile, TheContentTellsTheFormat) {
  const TestFolder folder;
  StateDict tensors;
  tensors.insert("x", ones({2}));
  save_safetensors(folder / "a.pt", tensors);
  save_torch(folder / "b.safetensors", Value(ones({2})));
  EXPECT_TRUE(equal(argand::load(folder / "a.pt")["x"].tensor(), ones({2})));
  std::string path = folder / "b.safetensors";  // not const: load(value, file) is another function
  EXPECT_TRUE(equal(argand::load(path).tensor(), ones({2})));
  EXPECT_NE(error_of([&] { load(folder.put("c", "nothing that is known")); }).find("no file of torch.save"),
            std::string::npos);
  EXPECT_NE(error_of([&] { load(folder.put("d", "")); }).find("no file of torch.save"), std::string::npos);
}

TEST(TorchFile, EveryDtypeComesBackBitForBit) {
#define ARGAND_NAME(T, Name) ScalarType::Name,
  for (const ScalarType dtype : {ARGAND_FORALL_DTYPES(ARGAND_NAME)}) {
    const Tensor x = randn({3, 4}, kDouble).mul(3).to(dtype);
    const Value v = loaded(bytes_of(Value::tuple({x, x.t(), x.select(0, 1), x.narrow(0, 0, 0)})));
    EXPECT_TRUE(equal(v[0].tensor(), x)) << str(dtype);
    EXPECT_EQ(v[1].tensor().strides(), x.t().strides());
    EXPECT_TRUE(v[2].tensor().is_alias_of(v[0].tensor()));
    EXPECT_EQ(v[3].tensor().numel(), 0);
  }
#undef ARGAND_NAME
}

TEST(TorchFile, WhatCannotBeReadAgainIsNotWritten) {
  const TestFolder folder;
  Value ring = Value::list();
  ring.push_back(Value::tuple({ring}));
  EXPECT_NE(error_of([&] { save_torch(folder / "f", ring); }).find("holds itself"), std::string::npos);
  ring.clear();
  Value deep = Value::list();
  for (int i = 0; i < 200; ++i) deep = Value::list({deep});
  EXPECT_NE(error_of([&] { save_torch(folder / "f", deep); }).find("deeper than 128"), std::string::npos);
  EXPECT_NE(error_of([&] { save_torch(folder / "f", Value(Tensor())); }).find("undefined"), std::string::npos);
  const Tensor x = ones({2});
  EXPECT_NE(error_of([&] {
              save_torch(folder / "f", Value::list({x, x.view(kInt)}));
            }).find("share memory"),
            std::string::npos);
  EXPECT_NE(::access((folder / "f").c_str(), F_OK), 0);
}

TEST(TorchFile, MapLocationAndLimits) {
  std::vector<std::string> asked;
  LoadOptions options;
  options.map_location = [&](const std::string& location) {
    asked.push_back(location);
    return Device(kMeta);
  };
  EXPECT_TRUE(load(kStored + "tensor.pt", options).tensor().is_meta());
  EXPECT_EQ(asked, std::vector<std::string>{"cpu"});
  LoadOptions few = to_cpu();
  few.max_tensors = 3;
  EXPECT_NE(error_of([&] { load(kStored + "values.pt", few); }), "nothing was thrown");
}

// ---- maps

TEST(TorchFile, TensorsThatAreReadLateDoNotWriteToTheFile) {
  const TestFolder folder;
  save_torch(folder / "f", Value(arange(20000, kFloat)));
  const std::string before = content_of(folder / "f");
  LoadOptions options;
  options.mmap = true;
  const Tensor x = load(folder / "f", options).tensor();
  EXPECT_FALSE(x.storage()->allocated()) << "nobody has looked at it";
  EXPECT_TRUE(equal(x, arange(20000, kFloat)));
  x.add_(1);
  EXPECT_TRUE(equal(x, arange(20000, kFloat).add(1)));
  EXPECT_EQ(content_of(folder / "f"), before);
}

TEST(TorchFile, AFileThatIsCutBeforeItIsReadLate) {
  const TestFolder folder;
  const std::string path = folder / "f";
  save_torch(path, Value::list({ones({1 << 20}), ones({4})}));
  LoadOptions options;
  options.mmap = true;
  const Value values = load(path, options);
  const Tensor x = values[0].tensor(), copy = zeros({1 << 20});
  ASSERT_EQ(::truncate(path.c_str(), 8192), 0);
  // Every look is an error, at what is still there, too: a storage is there as a whole or not at all.
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(x[0].item<float>(), FileError);
    EXPECT_THROW(copy.copy_(x), FileError);
    EXPECT_THROW(x.add(1).sum().item<float>(), FileError);
    EXPECT_THROW(x.data_ptr(), FileError);
  }
  EXPECT_TRUE(equal(copy, zeros({1 << 20})));
  EXPECT_THROW(values[1].tensor().sum().item<float>(), FileError);
  EXPECT_NE(error_of([&] { load(path, options); }), "nothing was thrown");
}

TEST(TorchFile, WhatIsReadLateIsWhatWasOpened) {
  const TestFolder folder;
  save_torch(folder / "f", Value(ones({1 << 10})));
  LoadOptions options;
  options.mmap = true;
  const Tensor x = load(folder / "f", options).tensor();
  save_torch(folder / "f", Value(zeros({1 << 10})));  // another file of this name
  EXPECT_EQ(x.sum().item<float>(), 1 << 10);
  // Damage is seen when the elements are read, unless nobody wants to know.
  std::string bytes = content_of(folder / "f");
  const size_t at = bytes.find(std::string(4096, '\0'));
  ASSERT_NE(at, std::string::npos);
  bytes[at + 64] = 1;
  folder.put("d", bytes);
  const Tensor damaged = load(folder / "d", options).tensor();
  EXPECT_THROW(damaged.sum().item<float>(), FormatError);
  options.verify = true;
  EXPECT_THROW(load(folder / "d", options), FormatError);
  options.verify = false;
  EXPECT_GT(load(folder / "d", options).tensor().abs().sum().item<float>(), 0);
}

TEST(TorchFile, ManyThreadsLookAtWhatIsReadLate) {
  const TestFolder folder;
  save_torch(folder / "f", Value(ones({1 << 16})));
  LoadOptions options;
  options.mmap = true;
  for (int round = 0; round < 20; ++round) {
    const Tensor x = load(folder / "f", options).tensor();
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { good += x.sum().item<float>() == 1 << 16; });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(good, 4);
  }
}

// ---- damage

TEST(TorchFile, CutAtEveryByte) {
  for (const char* name : {"values.pt", "tensor.pt", "legacy.pt", "script.pt", "libtorch.pt"}) {
    const std::string whole = content_of(kStored + name);
    ASSERT_FALSE(whole.empty()) << name;
    for (size_t n = 0; n < whole.size(); ++n) {
      const std::string cut = whole.substr(0, n);
      EXPECT_THROW(loaded(cut), FormatError) << name << " cut to " << n;
    }
  }
}

TEST(TorchFile, EveryBitFlipped) {
  const Tensor expected = arange(1, 3, kFloat);
  std::string bytes = content_of(kStored + "tensor.pt");
  int accepted = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    try {
      const Value v = loaded(bytes);
      ++accepted;  // padding, times, versions of programs: nothing that is read
      EXPECT_TRUE(v.is_tensor() && equal(v.tensor(), expected)) << "bit " << bit;
    } catch (const FormatError& e) {
      EXPECT_GE(e.offset(), 0);
    }
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
  }
  EXPECT_LT(accepted, static_cast<int>(bytes.size()) * 8 / 2 * 3);
  // The format before zip has no checksums: any data, but no crash and no other kind of error.
  bytes = content_of(kStored + "legacy.pt");
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    try {
      load_torch(MemorySource("memory", bytes), to_cpu());
    } catch (const FormatError&) {
    }
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
  }
}

// PyTorch 1.5 and before named storages by their addresses, of 14 digits and more.
TEST(TorchFile, StoragesOfAnyName) {
  for (const std::string& key :
       {std::string("94340341200128"), std::string("x"), std::string(300, '7'), std::string("\xc3\xa9")}) {
    using namespace testing;
    const std::string pickled = pickle(tensor_over(storage(key, 1), 0, {1}, {1}));
    const std::string file = Archive{{{"a/data.pkl", pickled}, {"a/data/" + key, kFour}, {"a/version", "3\n"}}}.bytes();
    EXPECT_EQ(loaded(file).tensor().item<float>(), 1) << key;
  }
}

TEST(TorchFile, NotRegularFiles) {
  for (const char* path : {"/dev/zero", "/tmp", "/nowhere/at/all"}) EXPECT_THROW(load(path), FileError) << path;
}

}  // namespace
}  // namespace argand::io
