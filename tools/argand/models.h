// The networks that `argand train --arch` knows.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "argand/nn/module.h"

namespace argand::cli {

// Shape of the images and number of classes a network is made for.
struct ImageTask {
  int64_t channels = 1, height = 28, width = 28, classes = 10;
};

class Classifier : public nn::Module {
 public:
  using nn::Module::Module;
  // [N, channels, height, width] -> logits [N, classes]
  virtual Tensor forward(const Tensor& images) = 0;
};

// The fully connected layer that grows with the images.
struct DenseLayer {
  const char* name;
  int64_t inputs, outputs;
};

const std::vector<std::string>& architectures();
// ValueError for an unknown name.
DenseLayer first_dense_layer(const std::string& arch, const ImageTask& task);
// ValueError for an unknown name or images too small for the network.  Weights are drawn from the default generator.
std::shared_ptr<Classifier> make_classifier(const std::string& arch, const ImageTask& task);

}  // namespace argand::cli
