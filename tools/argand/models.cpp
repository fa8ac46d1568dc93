#include "tools/argand/models.h"

#include <algorithm>

#include "argand/nn/modules/conv.h"
#include "argand/nn/modules/linear.h"
#include "argand/ops/functions.h"

namespace argand::cli {
namespace {

// conv 3x3 to 16, pool, conv 3x3 to 32, pool, 128, classes.
class Cnn final : public Classifier {
 public:
  explicit Cnn(const ImageTask& t) : Classifier("cnn") {
    ARGAND_CHECK(ValueError, t.height >= 4 && t.width >= 4, "cnn: images must be at least 4x4, got ", t.height, "x",
                 t.width);
    const DenseLayer dense = first_dense(t);
    conv1_ = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(t.channels, 16, 3).padding(1)));
    conv2_ = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(16, 32, 3).padding(1)));
    fc1_ = register_module("fc1", nn::Linear(dense.inputs, dense.outputs));
    fc2_ = register_module("fc2", nn::Linear(dense.outputs, t.classes));
  }
  static DenseLayer first_dense(const ImageTask& t) { return {"fc1", 32 * (t.height / 4) * (t.width / 4), 128}; }
  Tensor forward(const Tensor& images) override {
    Tensor x = max_pool2d(conv1_(images).relu(), 2);
    x = max_pool2d(conv2_(x).relu(), 2);
    return fc2_(fc1_(x.flatten(1)).relu());
  }

 private:
  nn::Conv2d conv1_{nullptr}, conv2_{nullptr};
  nn::Linear fc1_{nullptr}, fc2_{nullptr};
};

// Two hidden layers.
class Mlp final : public Classifier {
 public:
  explicit Mlp(const ImageTask& t) : Classifier("mlp") {
    const DenseLayer dense = first_dense(t);
    fc1_ = register_module("fc1", nn::Linear(dense.inputs, dense.outputs));
    fc2_ = register_module("fc2", nn::Linear(dense.outputs, 128));
    fc3_ = register_module("fc3", nn::Linear(128, t.classes));
  }
  static DenseLayer first_dense(const ImageTask& t) { return {"fc1", t.channels * t.height * t.width, 256}; }
  Tensor forward(const Tensor& images) override { return fc3_(fc2_(fc1_(images.flatten(1)).relu()).relu()); }

 private:
  nn::Linear fc1_{nullptr}, fc2_{nullptr}, fc3_{nullptr};
};

// One layer: logistic regression.
class LinearClassifier final : public Classifier {
 public:
  explicit LinearClassifier(const ImageTask& t) : Classifier("linear") {
    const DenseLayer dense = first_dense(t);
    fc_ = register_module("fc", nn::Linear(dense.inputs, dense.outputs));
  }
  static DenseLayer first_dense(const ImageTask& t) { return {"fc", t.channels * t.height * t.width, t.classes}; }
  Tensor forward(const Tensor& images) override { return fc_(images.flatten(1)); }

 private:
  nn::Linear fc_{nullptr};
};

}  // namespace

const std::vector<std::string>& architectures() {
  static const std::vector<std::string>& names = *new std::vector<std::string>{"cnn", "mlp", "linear"};
  return names;
}

DenseLayer first_dense_layer(const std::string& arch, const ImageTask& task) {
  if (arch == "cnn") return Cnn::first_dense(task);
  if (arch == "mlp") return Mlp::first_dense(task);
  ARGAND_CHECK(ValueError, arch == "linear", "unknown architecture '", arch, "'; there are cnn, mlp and linear");
  return LinearClassifier::first_dense(task);
}

std::shared_ptr<Classifier> make_classifier(const std::string& arch, const ImageTask& task) {
  if (arch == "cnn") return std::make_shared<Cnn>(task);
  if (arch == "mlp") return std::make_shared<Mlp>(task);
  (void)first_dense_layer(arch, task);  // knows whether there is such an architecture
  return std::make_shared<LinearClassifier>(task);
}

}  // namespace argand::cli
