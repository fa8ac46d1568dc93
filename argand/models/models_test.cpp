#include "argand/models/models.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "argand/core/cpu_generator.h"
#include "argand/core/grad_mode.h"
#include "argand/io/safetensors.h"
#include "argand/models/tables.h"
#include "argand/models/weights.h"
#include "argand/nn/utils/fusion.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::models {
namespace {

namespace fs = std::filesystem;

struct Folder {
  std::string path = io::make_temporary_file("models_test");
  Folder() {
    fs::remove(path);
    fs::create_directories(path);
    setenv("ARGAND_CACHE_DIR", (path + "/argand").c_str(), 1);
    setenv("TORCH_HOME", (path + "/torch").c_str(), 1);
  }
  ~Folder() {
    unsetenv("ARGAND_CACHE_DIR");
    unsetenv("TORCH_HOME");
    fs::remove_all(path);
  }
};

double relative(const Tensor& got, const Tensor& wanted) {
  return (got - wanted).abs().max().item<double>() / wanted.abs().max().item<double>();
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

// What torchvision 0.29.2 gives for the same seed; python/tests/test_models.py has more of it.
TEST(Models, DrawTorchvisionsWeights) {
  struct Case {
    const char* name;
    int64_t parameters;
    std::vector<double> output;  // of the first of two images, at 0, 250, 500, 750
  };
  for (const Case& c :
       {Case{"resnet18", 11689512, {1.1900400, -0.85122323, -0.36598128, -0.38907945}},
        Case{"resnet50", 25557032, {-2.8594964, -21.409092, 3.2179799, 5.7751451}},
        Case{"mobilenet_v3_small", 2542856, {-1.3961543e-10, 4.4472886e-10, -1.0023420e-10, 5.1202820e-10}},
        Case{"mobilenet_v3_large", 5483032, {-4.3514265e-11, 9.5613767e-11, -3.9850567e-11, 3.0526470e-10}}}) {
    manual_seed(0);
    const auto net = make_model(c.name);
    net->eval();
    int64_t parameters = 0;
    for (const Tensor& p : net->parameters()) parameters += p.numel();
    EXPECT_EQ(parameters, c.parameters) << c.name;
    const NoGradGuard no_grad;
    const Tensor y = net->forward(randn({2, 3, 96, 96}));
    for (size_t i = 0; i < c.output.size(); ++i)
      EXPECT_NEAR(y[0][static_cast<int64_t>(250 * i)].item<double>(), c.output[i], 1e-4 * std::abs(c.output[1]))
          << c.name << " " << i;
  }
}

TEST(Models, FusedEqualsUnfused) {
  for (const char* name : {"resnet18", "resnet50", "mobilenet_v3_large"}) {
    manual_seed(1);
    const auto net = make_model(name, {}, 10);
    const NoGradGuard no_grad;
    net->forward(randn({4, 3, 64, 64}));  // moves the statistics
    EXPECT_THROW(net->fuse(), ValueError);
    net->eval();
    const Tensor x = randn({2, 3, 64, 64}), before = net->forward(x);
    net->fuse();
    EXPECT_LT(relative(net->forward(x), before), 1e-5) << name;
    for (const auto& item : net->named_buffers()) ADD_FAILURE() << name << " still has " << item.key();
    net->fuse();  // there is nothing left to do
  }
}

TEST(Models, FuseConvBnEval) {
  manual_seed(2);
  nn::Conv2d conv(nn::Conv2dOptions(4, 6, 3).groups(2).padding(1));
  nn::BatchNorm2d bn(6);
  const NoGradGuard no_grad;
  bn->running_mean.normal_();
  bn->running_var.uniform_(0.5, 2);
  bn->weight.normal_();
  bn->bias.normal_();
  EXPECT_THROW(nn::utils::fuse_conv_bn_eval(conv, bn), ValueError);
  conv->eval();
  bn->eval();
  const Tensor x = randn({2, 4, 5, 5}), weight = conv->weight.clone();
  EXPECT_LT(relative(nn::utils::fuse_conv_bn_eval(conv, bn)(x), bn(conv(x))), 1e-6);
  EXPECT_TRUE(equal(conv->weight, weight));
  nn::BatchNorm2d other(5);
  other->eval();
  EXPECT_THROW(nn::utils::fuse_conv_bn_eval(conv, other), ShapeError);
}

TEST(Models, WeightsOfAFile) {
  const Folder folder;
  manual_seed(3);
  const auto net = mobilenet_v3_small({}, 5);
  net->eval();
  StateDict state;  // as files from before PyTorch 0.4.1
  for (const auto& item : net->state_dict())
    if (!item.key().ends_with("num_batches_tracked")) state.insert(item.key(), item.value());
  const std::string path = folder.path + "/w.safetensors";
  io::save_safetensors(path, state);
  const auto loaded = mobilenet_v3_small(path);
  loaded->eval();
  const Tensor x = randn({1, 3, 64, 64});
  EXPECT_TRUE(equal(loaded->forward(x), net->forward(x)));
  EXPECT_NE(message_of([&] { resnet18(path); }).find("conv1.weight"), std::string::npos);
  EXPECT_NE(message_of([&] { mobilenet_v3_small(path, 6); }).find("classifier.3.weight"), std::string::npos);
  EXPECT_NE(message_of([] { make_model("alexnet"); }).find("there are resnet18"), std::string::npos);
  EXPECT_NE(message_of([] { resnet18("nothing"); }).find("IMAGENET1K_V1, DEFAULT; got 'nothing'"), std::string::npos);
}

TEST(Models, NamesAreLookedUpInTheCache) {
  const Folder folder;
  const std::string offline = message_of([] { resnet18("IMAGENET1K_V1"); });
  EXPECT_NE(offline.find("fetch https://download.pytorch.org/models/resnet18-f37072fd.pth and put it into " +
                         folder.path + "/argand/models as resnet18-f37072fd.pth"),
            std::string::npos)
      << offline;
  fs::create_directories(folder.path + "/torch/hub/checkpoints");
  const std::string path = folder.path + "/torch/hub/checkpoints/resnet18-f37072fd.pth";
  std::ofstream(path) << "abc";
  const std::string damaged = message_of([] { resnet18("DEFAULT"); });
  EXPECT_NE(damaged.find("begins with f37072fd, got ba7816bf"), std::string::npos) << damaged;  // FIPS 180-4's example
  const Published mine{"resnet18", "MINE", "mine-ba7816bf.pth", 256};
  fs::rename(path, folder.path + "/torch/hub/checkpoints/mine-ba7816bf.pth");
  EXPECT_EQ(find_in_cache(mine).path, folder.path + "/torch/hub/checkpoints/mine-ba7816bf.pth");
  EXPECT_EQ(find_published("resnet50", "ResNet50_Weights.IMAGENET1K_V1")->file, "resnet50-0676ba61.pth");
  EXPECT_EQ(find_published("resnet50", "DEFAULT")->file, "resnet50-11ad3fa6.pth");
  EXPECT_EQ(find_published("resnet18", "IMAGENET1K_V2"), nullptr);
}

TEST(Models, ImagenetInput) {
  vision::Image image(300, 600, 3);
  for (int y = 0; y < 600; ++y)
    for (int x = 0; x < 300; ++x) image.at(x, y)[1] = 255, image.at(x, y)[2] = static_cast<uint8_t>(y * 255 / 600);
  const Tensor input = imagenet_input(image);
  EXPECT_EQ(input.sizes(), IntArrayRef({1, 3, 224, 224}));
  EXPECT_NEAR(input[0][0][7][9].item<double>(), (0 - 0.485) / 0.229, 1e-5);
  EXPECT_NEAR(input[0][1][7][9].item<double>(), (1 - 0.456) / 0.224, 1e-5);
  // 256 x 512, of which rows 144 to 367 are taken; the middle of the picture stays in the middle.
  EXPECT_NEAR(input[0][2][112][0].item<double>(), (0.5 - 0.406) / 0.225, 0.02);
  EXPECT_NEAR(input[0][2][0][0].item<double>(), (144.5 / 512 - 0.406) / 0.225, 0.02);
  EXPECT_THROW(imagenet_input(image, 200, 224), ValueError);
}

}  // namespace
}  // namespace argand::models
