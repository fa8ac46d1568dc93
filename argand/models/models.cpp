#include "argand/models/models.h"

#include "argand/io/load.h"
#include "argand/models/tables.h"
#include "argand/models/weights.h"
#include "argand/nn/init.h"
#include "argand/nn/modules/linear.h"
#include "argand/ops/functions.h"

namespace argand::models {
namespace {

enum class Act { kNone, kRelu, kHardswish };

Tensor activate(Act act, Tensor x) {
  if (act == Act::kRelu) return x.relu_();
  return act == Act::kHardswish ? x.hardswish_() : x;
}

// A window that keeps the size where the stride is 1.
nn::Conv2dOptions window(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1, int64_t groups = 1) {
  return nn::Conv2dOptions(in, out, kernel).stride(stride).padding((kernel - 1) / 2).groups(groups);
}

// Convolution, batch norm, activation: "0" and "1" of a Sequential there.
class ConvNorm final : public ConvNet {
 public:
  ConvNorm(const nn::Conv2dOptions& options, const nn::BatchNormOptions& norm, Act act) : ConvNet("conv"), act_(act) {
    add("0", "1", options, norm);
  }
  Tensor forward(const Tensor& x) override { return activate(act_, run(0, x)); }

 private:
  Act act_;
};

// Parts one after the other, named by their positions.
class Chain final : public ConvNet {
 public:
  Chain() : ConvNet("chain") {}
  void push_back(std::shared_ptr<ConvNet> part) {
    parts_.push_back(register_module(std::to_string(parts_.size()), std::move(part)));
  }
  Tensor forward(const Tensor& x) override {
    Tensor y = x;
    for (const auto& part : parts_) y = part->forward(y);
    return y;
  }

 private:
  std::vector<std::shared_ptr<ConvNet>> parts_;
};

// Two convolutions of 3 x 3, or one of 3 x 3 between two of 1 x 1, and the way around them.
class ResidualBlock final : public ConvNet {
 public:
  ResidualBlock(int64_t in, int64_t width, int64_t stride, bool bottleneck) : ConvNet("block") {
    const int64_t out = bottleneck ? 4 * width : width;
    const auto conv = [&](int n, const nn::Conv2dOptions& o) {
      add(str("conv", n), str("bn", n), o, nn::BatchNormOptions(o.out_channels()));
    };
    conv(1, bottleneck ? window(in, width, 1) : window(in, width, 3, stride));
    conv(2, bottleneck ? window(width, width, 3, stride) : window(width, width, 3));
    if (bottleneck) conv(3, window(width, out, 1));
    last_ = bottleneck ? 2 : 1;
    if (stride != 1 || in != out)
      around_ = register_module(
          "downsample", std::make_shared<ConvNorm>(window(in, out, 1, stride), nn::BatchNormOptions(out), Act::kNone));
  }
  Tensor forward(const Tensor& x) override {
    Tensor y = x;
    for (size_t i = 0; i < last_; ++i) y = run(i, y).relu_();
    y = run(last_, y);
    return y.add_(around_ ? around_->forward(x) : x).relu_();
  }

 private:
  size_t last_;
  std::shared_ptr<ConvNet> around_;
};

class ResNet final : public ConvNet {
 public:
  ResNet(const Architecture& a, int64_t classes) : ConvNet("ResNet") {
    add("conv1", "bn1", window(3, 64, 7, 2), nn::BatchNormOptions(64));
    int64_t in = 64, width = 64;
    for (size_t s = 0; s < a.stages.size(); ++s, width *= 2) {
      auto stage = std::make_shared<Chain>();
      for (int64_t i = 0; i < a.stages[s]; ++i) {
        stage->push_back(std::make_shared<ResidualBlock>(in, width, s > 0 && i == 0 ? 2 : 1, a.bottleneck));
        in = a.bottleneck ? 4 * width : width;
      }
      stages_.push_back(register_module(str("layer", s + 1), stage));
    }
    fc_ = register_module("fc", nn::Linear(in, classes));
  }
  Tensor forward(const Tensor& x) override {
    Tensor y = max_pool2d(run(0, x).relu_(), 3, 2, 1);
    for (const auto& stage : stages_) y = stage->forward(y);
    return fc_(adaptive_avg_pool2d(y, {1, 1}).flatten(1));
  }

 private:
  std::vector<std::shared_ptr<ConvNet>> stages_;
  nn::Linear fc_{nullptr};
};

// Scales channels by what a small network makes of their means.
class Squeeze final : public ConvNet {
 public:
  explicit Squeeze(int64_t channels) : ConvNet("squeeze") {
    // A quarter, as a multiple of 8 that is not less than 0.9 of it.
    const int64_t quarter = channels / 4, nearest = std::max<int64_t>(8, (quarter + 4) / 8 * 8);
    const int64_t narrow = 10 * nearest < 9 * quarter ? nearest + 8 : nearest;
    fc1_ = register_module("fc1", nn::Conv2d(channels, narrow, 1));
    fc2_ = register_module("fc2", nn::Conv2d(narrow, channels, 1));
  }
  Tensor forward(const Tensor& x) override {
    return mul(hardsigmoid(fc2_(fc1_(adaptive_avg_pool2d(x, {1, 1})).relu_())), x);
  }

 private:
  nn::Conv2d fc1_{nullptr}, fc2_{nullptr};
};

nn::BatchNormOptions mobile_norm(int64_t channels) { return nn::BatchNormOptions(channels).eps(0.001).momentum(0.01); }

std::shared_ptr<ConvNet> mobile_conv(const nn::Conv2dOptions& options, Act act) {
  return std::make_shared<ConvNorm>(options, mobile_norm(options.out_channels()), act);
}

class InvertedResidual final : public ConvNet {
 public:
  InvertedResidual(int64_t in, const MobileBlock& b) : ConvNet("block"), around_(b.stride == 1 && in == b.out) {
    const Act act = b.hardswish ? Act::kHardswish : Act::kRelu;
    chain_ = register_module("block", std::make_shared<Chain>());
    if (b.expanded != in) chain_->push_back(mobile_conv(window(in, b.expanded, 1), act));
    chain_->push_back(mobile_conv(window(b.expanded, b.expanded, b.kernel, b.stride, b.expanded), act));
    if (b.squeeze) chain_->push_back(std::make_shared<Squeeze>(b.expanded));
    chain_->push_back(mobile_conv(window(b.expanded, b.out, 1), Act::kNone));
  }
  Tensor forward(const Tensor& x) override {
    const Tensor y = chain_->forward(x);
    return around_ ? add_(y, x) : y;
  }

 private:
  static Tensor add_(Tensor y, const Tensor& x) { return y.add_(x); }
  bool around_;
  std::shared_ptr<Chain> chain_;
};

class MobileNetV3 final : public ConvNet {
 public:
  MobileNetV3(const Architecture& a, int64_t classes) : ConvNet("MobileNetV3") {
    constexpr int64_t kFirst = 16;
    features_ = register_module("features", std::make_shared<Chain>());
    features_->push_back(mobile_conv(window(3, kFirst, 3, 2), Act::kHardswish));
    int64_t in = kFirst;
    for (const MobileBlock& b : a.blocks) {
      features_->push_back(std::make_shared<InvertedResidual>(in, b));
      in = b.out;
    }
    features_->push_back(mobile_conv(window(in, 6 * in, 1), Act::kHardswish));
    auto head = register_module("classifier", std::make_shared<nn::Module>("classifier"));
    hidden_ = head->register_module("0", nn::Linear(6 * in, a.hidden));
    last_ = head->register_module("3", nn::Linear(a.hidden, classes));
  }
  Tensor forward(const Tensor& x) override {
    const Tensor means = adaptive_avg_pool2d(features_->forward(x), {1, 1}).flatten(1);
    return last_(dropout(hidden_(means).hardswish_(), 0.2, is_training()));
  }
  void draw_head() {
    for (nn::Linear* layer : {&hidden_, &last_}) {
      nn::init::normal_((*layer)->weight, 0, 0.01);
      nn::init::zeros_((*layer)->bias);
    }
  }

 private:
  std::shared_ptr<Chain> features_;
  nn::Linear hidden_{nullptr}, last_{nullptr};
};

void draw_convolutions(ConvNet& net) {
  net.apply([](nn::Module& m) {
    auto* conv = m.as<nn::Conv2dImpl>();
    if (!conv) return;
    nn::init::kaiming_normal_(conv->weight, 0, kFanOut, kReLU);
    if (conv->bias.defined()) nn::init::zeros_(conv->bias);
  });
}

// The last matrix of the weights tells the classes apart.
int64_t classes_of(const StateDict& weights, const std::string& last) {
  const Tensor* matrix = weights.find(last);
  return matrix && matrix->dim() == 2 ? matrix->size(0) : 1000;
}

// Files from before PyTorch 0.4.1 do not count batches, which matters to training without momentum alone.
void complete(StateDict& weights, const ConvNet& net) {
  for (const auto& buffer : net.named_buffers())
    if (buffer.key().ends_with(".num_batches_tracked") && !weights.find(buffer.key()))
      weights.insert(buffer.key(), buffer.value());
}

}  // namespace

std::shared_ptr<ConvNet> make_model(const std::string& name, const std::string& weights,
                                    std::optional<int64_t> num_classes) {
  const Architecture& a = architecture(name);
  const bool mobile = a.stages.empty();
  StateDict state;
  std::string path;
  if (!weights.empty()) {
    path = weights_file(name, weights);
    io::LoadOptions options;
    options.map_location = [](const std::string&) { return Device(kCPU); };
    state = io::load_state_dict(path, options);
  }
  const int64_t classes = num_classes.value_or(classes_of(state, mobile ? "classifier.3.weight" : "fc.weight"));
  ARGAND_CHECK(ValueError, classes > 0, name, ": expected num_classes above 0, got ", classes);
  std::shared_ptr<ConvNet> net;
  if (mobile)
    net = std::make_shared<MobileNetV3>(a, classes);
  else
    net = std::make_shared<ResNet>(a, classes);
  if (path.empty()) {
    draw_convolutions(*net);
    if (auto* m = dynamic_cast<MobileNetV3*>(net.get())) m->draw_head();
    return net;
  }
  complete(state, *net);
  try {
    net->load_state_dict(state);
  } catch (const ValueError& e) {
    throw ValueError(str(path, ": ", e.msg()));
  }
  return net;
}

}  // namespace argand::models
