#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "argand/io/file.h"
#include "argand/io/folder_test.h"
#include "argand/io/safetensors.h"
#include "argand/ops/functions.h"
#include "argand/ops/index/tensor_index.h"
#include "argand/serialize/serialize.h"

namespace argand::serialize {
namespace {

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.msg();
  }
  return "nothing was thrown";
}

std::string saved(OutputArchive& archive) {
  std::ostringstream out;
  archive.save_to(out);
  return out.str();
}
InputArchive loaded(const std::string& bytes) {
  InputArchive archive;
  std::istringstream in(bytes);
  archive.load_from(in);
  return archive;
}

TEST(Archive, TensorsOfEveryDtypeComeBack) {
#define ARGAND_NAME(T, Name) ScalarType::Name,
  for (const ScalarType dtype : {ARGAND_FORALL_DTYPES(ARGAND_NAME)}) {
    for (const IntArrayRef sizes : {IntArrayRef({2, 3}), IntArrayRef(), IntArrayRef({0, 4})}) {
      const Tensor before = randn(sizes, kDouble).mul(3).to(dtype);
      std::stringstream stream;
      save(before, stream);
      Tensor after;
      load(after, stream);
      EXPECT_EQ(after.dtype(), dtype);
      EXPECT_TRUE(equal(before, after)) << dtype_name(dtype);
    }
  }
#undef ARGAND_NAME
}

TEST(Archive, ViewsUndefinedTensorsAndRequiresGrad) {
  const Tensor base = arange(12).to(kFloat).view({3, 4});
  std::stringstream stream;
  save(std::vector<Tensor>{base.t(), Tensor(), base.clone().set_requires_grad(true)}, stream);
  std::vector<Tensor> after;
  load(after, stream);
  ASSERT_EQ(after.size(), 3U);
  EXPECT_TRUE(equal(after[0], base.t()));
  EXPECT_FALSE(after[0].requires_grad());
  EXPECT_FALSE(after[1].defined());
  EXPECT_TRUE(after[2].requires_grad());
}

TEST(Archive, ValuesComeBack) {
  OutputArchive out;
  out.write("none", IValue());
  out.write("yes", true);
  out.write("int", int64_t{-9'000'000'000'000'000'001});
  out.write("third", 1.0 / 3);
  out.write("infinity", -std::numeric_limits<double>::infinity());
  out.write("text", "two words\n\"quoted\"");
  out.write("empty", "");
  out.write("ints", std::vector<int64_t>{3, -4});
  out.write("doubles", std::vector<double>{});
  InputArchive in = loaded(saved(out));
  const auto read = [&](const char* key) {
    IValue value;
    in.read(key, value);
    return value;
  };
  EXPECT_TRUE(read("none").isNone());
  EXPECT_TRUE(read("yes").toBool());
  EXPECT_EQ(read("int").toInt(), -9'000'000'000'000'000'001);
  EXPECT_EQ(read("third").toDouble(), 1.0 / 3);
  EXPECT_EQ(read("infinity").toDouble(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(read("text").toStringRef(), "two words\n\"quoted\"");
  EXPECT_EQ(read("empty").toStringRef(), "");
  EXPECT_EQ(read("ints").toIntVector(), (std::vector<int64_t>{3, -4}));
  EXPECT_TRUE(read("doubles").toDoubleVector().empty());
  EXPECT_EQ(in.keys().size(), 9U);
}

TEST(Archive, NestedArchives) {
  OutputArchive inner, middle, out;
  inner.write("x", full({1}, 7));
  middle.write("inner", inner);
  middle.write("n", 5);
  out.write("middle", middle);
  out.write("y", full({1}, 8));
  InputArchive in = loaded(saved(out)), m, i;
  EXPECT_EQ(in.keys(), (std::vector<std::string>{"middle", "y"}));
  in.read("middle", m);
  EXPECT_EQ(m.keys(), (std::vector<std::string>{"inner", "n"}));
  m.read("inner", i);
  Tensor x;
  i.read("x", x);
  EXPECT_EQ(x.item<float>(), 7);
  EXPECT_EQ(m.state_dict().keys(), (std::vector<std::string>{"inner.x"}));
  EXPECT_FALSE(i.try_read("y", x));
  EXPECT_EQ(message_of([&] { i.read("y", x); }), "No such serialized tensor 'middle.inner.y'");
  EXPECT_EQ(message_of([&] { in.read("nothing", m); }), "No such serialized submodule: 'nothing'");
  IValue v;
  EXPECT_EQ(message_of([&] { in.read("n", v); }), "the archive does not have a field with name 'n'");
}

TEST(Archive, AReadTensorStaysTheSameTensor) {
  OutputArchive out;
  out.write("w", full({2}, 3, kDouble));
  InputArchive in = loaded(saved(out));
  const Tensor parameter = zeros({2}), same = parameter;
  Tensor target = parameter;
  in.read("w", target);
  EXPECT_TRUE(target.is_same(parameter));
  EXPECT_EQ(same[0].item<double>(), 3);
}

TEST(Archive, WhatCannotBeSavedLeavesTheFileAsItWas) {
  const io::testing::TestFolder folder;
  const std::string path = folder / "a.pt";
  save(full({1}, 1), path);
  OutputArchive bad;
  bad.write("list", std::vector<Tensor>{full({1}, 2)});
  EXPECT_EQ(message_of([&] { bad.save_to(path); }),
            "OutputArchive: 'list' holds a value of a type that cannot be saved");
  Tensor after;
  load(after, path);
  EXPECT_EQ(after.item<float>(), 1);
  EXPECT_EQ(message_of([&] { bad.write("list", 1); }), "Entry 'list' already defined");
}

TEST(Archive, DamageIsAnError) {
  OutputArchive out;
  out.write("z", full({2}, 1, kComplexDouble));
  out.write("n", 5);
  const std::string good = saved(out);
  for (size_t cut = 0; cut < good.size(); ++cut) EXPECT_THROW(loaded(good.substr(0, cut)), IoError);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    return message_of([&] { loaded(bad); });
  };
  EXPECT_NE(with("int 5", "int x").find("metadata 'value n' has no value of a known type"), std::string::npos);
  EXPECT_NE(with("int 5", "bool5").find("metadata 'value n' has no value of a known type"), std::string::npos);
  EXPECT_NE(with("value n", "value z").find("metadata 'value z' names a tensor"), std::string::npos);
  EXPECT_NE(with("complex128 z", "complex128 y").find("names no tensor"), std::string::npos);
  EXPECT_NE(message_of([] {
              Tensor t;
              load(t, "/nonexistent/file.pt");
            }).find("cannot read '/nonexistent/file.pt'"),
            std::string::npos);
  std::ostringstream full_stream;
  full_stream.setstate(std::ios::badbit);
  EXPECT_THROW(out.save_to(full_stream), IoError);
}

TEST(Archive, AGpuThatIsNotThereIsAnError) {
  const io::testing::TestFolder folder;
  StateDict tensors;
  tensors.insert("w", full({2}, 3));
  io::Metadata metadata;
  metadata.insert("device w", "cuda:100");
  io::save_safetensors(folder / "a.pt", tensors, metadata);
  InputArchive in;
  EXPECT_NE(message_of([&] {
              in.load_from(folder / "a.pt");
            }).find("'w' was saved on cuda:100; to load it elsewhere, give a device, such as kCPU ("),
            std::string::npos);
  in.load_from(folder / "a.pt", kCPU);
  Tensor w;
  in.read("w", w);
  EXPECT_EQ(w[0].item<float>(), 3);
}

// tests/data/checkpoints/make.py says how LibTorch wrote it.
TEST(Archive, ArchivesOfLibTorchLoad) {
  InputArchive in, inner;
  in.load_from("tests/data/checkpoints/libtorch.pt");
  EXPECT_EQ(in.keys(), (std::vector<std::string>{"i", "s", "l", "t", "inner"}));
  IValue value;
  in.read("i", value);
  EXPECT_EQ(value.toInt(), 5);
  in.read("s", value);
  EXPECT_EQ(value.toStringRef(), "text");
  in.read("l", value);
  EXPECT_EQ(value.toIntVector(), (std::vector<int64_t>{1, 2}));
  Tensor t, x;
  in.read("t", t);
  EXPECT_TRUE(equal(t, arange(6).view({2, 3}).t()));
  in.read("inner", inner);
  inner.read("x", x);
  EXPECT_TRUE(equal(x, ones({2})));
  EXPECT_TRUE(x.requires_grad());
  EXPECT_NE(
      message_of([&] { in.load_from("tests/data/checkpoints/values.pt"); }).find("expected an archive of torch::save"),
      std::string::npos);
}

}  // namespace
}  // namespace argand::serialize
