// What modules, archives and indices do when tensors are on several devices.
#include <gtest/gtest.h>

#include <sstream>

#include "argand/nn/modules/linear.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/index/tensor_index.h"
#include "argand/ops/operators.h"
#include "argand/serialize/serialize.h"
#include "tests/sim/backend.h"

namespace argand {
namespace {

const Device kGpu(kCUDA, 1);

class Fronts : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { sim::register_devices(kCUDA); }
  void TearDown() override { EXPECT_EQ(sim::take_races(), std::vector<std::string>{}); }
};

bool equal_there(const Tensor& t, const Tensor& expected) { return t.device() == kGpu && t.cpu().equal(expected); }

TEST_F(Fronts, IndicesOfTheCpuSelectOnAGpu) {
  using indexing::Slice;
  const Tensor here = arange(12, TensorOptions(kFloat)).view({3, 4}), there = here.to(kGpu);
  const Tensor rows = tensor({2, 0}), mask = here.sum(1) > 6, all = here > 5;
  EXPECT_TRUE(equal_there(there.index({rows}), here.index({rows})));
  EXPECT_TRUE(equal_there(there.index({Slice(), rows.to(kGpu)}), here.index({Slice(), rows})));
  EXPECT_TRUE(equal_there(there.index({mask}), here.index({mask})));
  EXPECT_TRUE(equal_there(there.index({all}), here.index({all})));
  EXPECT_TRUE(equal_there(there.index({rows, rows.to(kGpu)}), here.index({rows, rows})));
  for (const bool value : {true, false}) {
    EXPECT_TRUE(equal_there(there.index({value}), here.index({value})));
    EXPECT_TRUE(equal_there(there.index({tensor(value).to(kGpu)}), here.index({tensor(value)})));
  }
  Tensor a = here.clone(), b = there.clone();
  a.index_put_({rows}, 7);
  b.index_put_({rows}, 7);
  a.index_put_({all}, tensor({-1.0f}));
  b.index_put_({all}, tensor({-1.0f}));
  a.index_put_({true, 0}, ones({4}));
  b.index_put_({true, 0}, ones({4}));
  EXPECT_TRUE(equal_there(b, a));
  Tensor target = here.clone();
  target.index_put_({rows.to(kGpu)}, 7);
  a = here.clone();
  a.index_put_({rows}, 7);
  EXPECT_TRUE(target.equal(a)) << "as in PyTorch, writing takes indices from anywhere";
  try {
    here.index({rows.to(kGpu)});
    ADD_FAILURE() << "an index on another GPU was taken";
  } catch (const DeviceError& e) {
    EXPECT_STREQ(e.what(),
                 "index: indices should be either on cpu or on the same device as the indexed tensor (cpu), "
                 "got one on cuda:1");
  }
}

TEST_F(Fronts, ANumberOfTheCpuIsAGradient) {
  const Tensor x = ones({3}).to(kGpu).requires_grad_();
  x.sum().backward(tensor(2.0f));
  EXPECT_TRUE(equal_there(x.grad(), full({3}, 2.0f)));
  try {
    (x * 2).backward(ones({3}));
    ADD_FAILURE() << "a gradient of the CPU was taken";
  } catch (const GradError& e) {
    EXPECT_STREQ(e.what(), "expected a gradient on cuda:1, where the output is, got one on cpu");
  }
}

// Its numbers go to the device in a kernel, and the current device is another.
TEST_F(Fronts, AnOpThatIsMadeOfOthersWorksOnTheStreamOfItsTensors) {
  const Tensor here = arange(4, TensorOptions(kFloat)), there = here.to(kGpu);
  EXPECT_TRUE(equal_there(combinations(there), combinations(here)));
}

TEST_F(Fronts, DevicesAreNotMixed) {
  const Tensor here = arange(3), there = here.to(kGpu);
  EXPECT_THROW(here.set_(there), DeviceError);
  EXPECT_THROW(meshgrid({here, there}), DeviceError);
}

TEST_F(Fronts, AnArchiveRemembersTheDevice) {
  const Tensor here = randn({3}), there = here.to(kGpu), pairs = complex(here, here).to(kComplexDouble).to(kGpu);
  serialize::OutputArchive out;
  out.write("here", here);
  out.write("there", there);
  out.write("pairs", pairs);
  std::stringstream stream;
  out.save_to(stream);
  const std::string bytes = stream.str();
  const auto read = [&](const std::string& archive, const char* name, std::optional<Device> device = std::nullopt) {
    serialize::InputArchive in;
    in.load_from(archive.data(), archive.size(), device);
    Tensor t;
    in.read(name, t);
    return t;
  };
  EXPECT_TRUE(read(bytes, "here").equal(here));
  EXPECT_TRUE(equal_there(read(bytes, "there"), here));
  EXPECT_TRUE(equal_there(read(bytes, "pairs"), pairs.cpu()));
  EXPECT_TRUE(read(bytes, "there", kCPU).equal(here));
  EXPECT_TRUE(equal_there(read(bytes, "here", kGpu), here));

  const auto with = [&](const std::string& device) {
    std::string other = bytes;
    for (size_t at; (at = other.find("cuda:1")) != std::string::npos;) other.replace(at, 6, device);
    return other;
  };
  try {
    read(with("cuda:7"), "here");
    ADD_FAILURE() << "a GPU that is not there was taken";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("'there' was saved on cuda:7; to load it elsewhere, give a device"),
              std::string::npos)
        << e.what();
  }
  EXPECT_TRUE(read(with("cuda:7"), "there", kCPU).equal(here));
  EXPECT_THROW(read(with("cuda:x"), "here"), IoError);
  EXPECT_THROW(read(with("meta:1"), "here"), IoError);
}

TEST_F(Fronts, ResizingKeepsWhatWasThere) {
  const Tensor x = arange(4, kFloat).to(kGpu), y = x * 2;  // the second one waits
  for (const Tensor& t : {x, y}) {
    const Tensor before = t.cpu();
    t.resize_({100});
    EXPECT_TRUE(equal_there(t.slice(0, 0, 4), before));
  }
}

TEST_F(Fronts, AModuleGoesWhereItWasSaved) {
  nn::Linear saved(3, 2), loaded(3, 2);
  const Tensor weight = saved->weight.detach().clone();
  saved->to(kGpu);
  std::stringstream stream;
  save(saved, stream);
  load(loaded, stream);
  EXPECT_TRUE(equal_there(loaded->weight, weight));
  EXPECT_TRUE(loaded->weight.requires_grad());
}

TEST_F(Fronts, AModulesDtypeAndDevice) {
  nn::Linear linear(3, 2);
  for (Tensor& p : linear->parameters()) p.requires_grad_(false);
  const Tensor steps = linear->register_buffer("steps", tensor({300}));
  linear->to(kInt);
  linear->to(kGpu, kByte);
  EXPECT_EQ(linear->weight.device(), kGpu);
  EXPECT_EQ(linear->weight.dtype(), kByte);
  EXPECT_EQ(steps.dtype(), kLong) << "counts stay what they are";
  EXPECT_EQ(steps.device(), kGpu);
}

}  // namespace
}  // namespace argand
