// Published networks for images, with torchvision's names of parameters, so that its files of weights load as they are.
//
//   auto net = argand::models::resnet18("resnet18-f37072fd.pth");
//   net->eval();
//   net->fuse();
//   argand::Tensor p = net->forward(argand::models::imagenet_input(image)).softmax(1);
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argand/nn/modules/batchnorm.h"
#include "argand/nn/modules/conv.h"
#include "argand/vision/image.h"

namespace argand::models {

// A network, or a part of one, whose convolutions have batch norms behind them.
class ConvNet : public nn::Module {
 public:
  using nn::Module::Module;
  // Runs the whole network: [N, 3, H, W] -> [N, num_classes], before softmax.
  virtual Tensor forward(const Tensor& x) = 0;
  // Folds every batch norm into the convolution before it: the same results in fewer passes, but no more training.
  // Names of parameters change.  ValueError unless the network is in evaluation mode.
  void fuse();

 protected:
  // Adds a convolution and its batch norm as two submodules; returns the number that run() takes.
  size_t add(const std::string& conv, const std::string& norm, const nn::Conv2dOptions& options,
             const nn::BatchNormOptions& norm_options);
  Tensor run(size_t pair, const Tensor& x);

 private:
  struct Pair {
    std::string conv_name, norm_name;
    nn::Conv2d conv;
    nn::BatchNorm2d norm;  // empty after folding
  };
  std::vector<Pair> pairs_;
};

// The network `name` (tables.h) with torchvision's initial weights, drawn from the default generator, or with
// `weights`: a file in any format that load() reads, or a published name (weights.h).  If the number of classes is not
// given, it is that of the weights, else 1000.  ValueError lists all missing, unexpected and misshaped parameters.
std::shared_ptr<ConvNet> make_model(const std::string& name, const std::string& weights = {},
                                    std::optional<int64_t> num_classes = std::nullopt);

#define ARGAND_MODEL(name)                                                                  \
  inline std::shared_ptr<ConvNet> name(const std::string& weights = {},                     \
                                       std::optional<int64_t> num_classes = std::nullopt) { \
    return make_model(#name, weights, num_classes);                                         \
  }
ARGAND_MODEL(resnet18)
ARGAND_MODEL(resnet34)
ARGAND_MODEL(resnet50)
ARGAND_MODEL(mobilenet_v3_small)
ARGAND_MODEL(mobilenet_v3_large)
#undef ARGAND_MODEL

// An image as these networks were trained on: the shorter side scaled to `resize`, the middle `crop` x `crop` cut out,
// each channel normalised by ImageNet's mean and deviation: float32 [1, 3, crop, crop].
Tensor imagenet_input(const vision::Image& image, int64_t resize = 256, int64_t crop = 224);

}  // namespace argand::models
