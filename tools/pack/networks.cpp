// Training steps, and products, whose groups and kernels are in the pack.
#include "argand/argand.h"
#include "tools/argand/models.h"
#include "tools/argand/optimizers.h"
#include "tools/pack/calls.h"

namespace argand::pack {
namespace {

const Device kGpu(kCUDA, 0);

// What `argand train` does in a step.
void train_demo(const std::string& arch, const std::string& optimizer_name) {
  const cli::ImageTask task;
  const auto model = cli::make_classifier(arch, task);
  model->to(kGpu);
  const auto optimizer = cli::make_optimizer(optimizer_name, 1e-3, model->parameters());
  const Tensor images = rand({64, task.channels, task.height, task.width}).to(kGpu);
  const Tensor target = randint(task.classes, {64}).to(kGpu);
  for (int step = 0; step < 2; ++step) {
    optimizer->zero_grad();
    const Tensor logits = model->forward(images);
    const Tensor loss = cross_entropy_loss(logits, target);
    loss.backward();
    optimizer->step();
    loss.item<double>();
    logits.detach().argmax(1).eq(target).sum().item<int64_t>();
  }
}

// Convolutions with batch norm, and a pooled head.
class Residual final : public nn::Module {
 public:
  Residual() {
    stem_ = register_module("stem", nn::Conv2d(nn::Conv2dOptions(3, 16, 3).padding(1).bias(false)));
    norm1_ = register_module("norm1", nn::BatchNorm2d(16));
    conv_ = register_module("conv", nn::Conv2d(nn::Conv2dOptions(16, 16, 3).padding(1).bias(false)));
    norm2_ = register_module("norm2", nn::BatchNorm2d(16));
    head_ = register_module("head", nn::Linear(16, 10));
  }
  Tensor forward(const Tensor& images) {
    const Tensor x = norm1_(stem_(images)).relu();
    const Tensor y = (norm2_(conv_(x)) + x).relu();
    return head_(adaptive_avg_pool2d(y, {1, 1}).flatten(1));
  }

 private:
  nn::Conv2d stem_{nullptr}, conv_{nullptr};
  nn::BatchNorm2d norm1_{nullptr}, norm2_{nullptr};
  nn::Linear head_{nullptr};
};

// A block of a language model.
class Block final : public nn::Module {
 public:
  static constexpr int64_t kWidth = 64, kHeads = 4, kWords = 100;
  Block() {
    words_ = register_module("words", nn::Embedding(kWords, kWidth));
    places_ = register_module("places", nn::Embedding(32, kWidth));
    norm1_ = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({kWidth})));
    norm2_ = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({kWidth})));
    qkv_ = register_module("qkv", nn::Linear(kWidth, 3 * kWidth));
    out_ = register_module("out", nn::Linear(kWidth, kWidth));
    up_ = register_module("up", nn::Linear(kWidth, 4 * kWidth));
    down_ = register_module("down", nn::Linear(4 * kWidth, kWidth));
    dropout_ = register_module("dropout", nn::Dropout(0.1));
    head_ = register_module("head", nn::Linear(kWidth, kWords));
  }
  Tensor forward(const Tensor& words) {
    const int64_t n = words.size(0), length = words.size(1);
    const Tensor places = arange(length, TensorOptions(kLong).device(words.device()));
    Tensor x = dropout_(words_(words) + places_(places));
    const auto parts = qkv_(norm1_(x)).view({n, length, 3, kHeads, kWidth / kHeads}).permute({2, 0, 3, 1, 4}).unbind(0);
    Tensor scores = parts[0].matmul(parts[1].transpose(-2, -1)) / 4.0;
    const Tensor later = ones({length, length}, TensorOptions(kBool).device(words.device())).triu(1);
    scores = scores.masked_fill(later, -1e9).softmax(-1);
    x = x + dropout_(out_(scores.matmul(parts[2]).transpose(1, 2).reshape({n, length, kWidth})));
    x = x + dropout_(down_(gelu(up_(norm2_(x)))));
    return head_(x);
  }

 private:
  nn::Embedding words_{nullptr}, places_{nullptr};
  nn::LayerNorm norm1_{nullptr}, norm2_{nullptr};
  nn::Linear qkv_{nullptr}, out_{nullptr}, up_{nullptr}, down_{nullptr}, head_{nullptr};
  nn::Dropout dropout_{nullptr};
};

// Attention with heads of 64 features, in the library's own layers.
class Encoder final : public nn::Module {
 public:
  Encoder() {
    layers_ = register_module(
        "layers",
        nn::TransformerEncoder(
            nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(256, 4).dim_feedforward(1024)), 2));
    head_ = register_module("head", nn::Linear(256, 10));
  }
  Tensor forward(const Tensor& x) { return head_(layers_(x)); }

 private:
  nn::TransformerEncoder layers_{nullptr};
  nn::Linear head_{nullptr};
};

template <class Recurrent, class Options>
class Sequences final : public nn::Module {
 public:
  Sequences() {
    layers_ = register_module("layers", Recurrent(Options(128, 256).num_layers(2).batch_first(true)));
    head_ = register_module("head", nn::Linear(256, 10));
  }
  Tensor forward(const Tensor& x) { return head_(std::get<0>(layers_(x)).select(1, -1)); }

 private:
  Recurrent layers_{nullptr};
  nn::Linear head_{nullptr};
};

template <class Network>
void train(Network& network, const Tensor& input, const Tensor& target) {
  network.to(kGpu);
  optim::AdamW optimizer(network.parameters(), optim::AdamWOptions(1e-3));
  for (int step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    const Tensor loss = cross_entropy_loss(network.forward(input).flatten(0, -2), target);
    loss.backward();
    nn::utils::clip_grad_norm_(network.parameters(), 1.0);
    optimizer.step();
    loss.item<double>();
  }
}

Tensor parameter_of(int64_t elements) {
  Tensor parameter = zeros({elements}, TensorOptions(kGpu)).requires_grad_();
  parameter.mutable_grad() = zeros({elements}, TensorOptions(kGpu));
  return parameter;
}
// Kernels of few parameters are those that the networks here have.
void step_many_parameters(const std::string& optimizer_name) {
  cli::make_optimizer(optimizer_name, 1e-3, {parameter_of(1 << 20)})->step();
}
// The optimizers that `argand train` does not know.  The sixth step of RAdam is the first that is rectified.
template <class O>
void step_few_and_many() {
  for (const int64_t elements : {1 << 10, 1 << 20}) {
    O optimizer(std::vector<Tensor>{parameter_of(elements)});
    for (int step = 0; step < 6; ++step) optimizer.step();
  }
}

// The losses of regression and of two classes, with what makes and measures tensors.
void other_losses(int64_t batch) {
  nn::Linear model(16, 1);
  model->to(kGpu);
  optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.1));
  const Tensor input = randn({batch, 16}, TensorOptions(kGpu)), target = rand({batch, 1}, TensorOptions(kGpu));
  for (int loss = 0; loss < 4; ++loss) {
    optimizer.zero_grad();
    const Tensor output = model(input);
    (loss == 0   ? mse_loss(output, target)
     : loss == 1 ? l1_loss(output, target)
     : loss == 2 ? smooth_l1_loss(output, target)
                 : binary_cross_entropy_with_logits(output, target))
        .backward();
    optimizer.step();
  }
  const Tensor x = cat({input, input}, 1);
  for (const Tensor& t : {x.mean(), x.sum(1), x.mean(0), x.max(), x.argmax(1), x.softmax(1)}) t.impl().data();
}

// Small products of all layouts, by small and larger tiles.
void small_products() {
  for (const ScalarType dtype : {kFloat, kHalf, kBFloat16})
    for (const int64_t size : {64, 160}) {
      const Tensor x = empty({size, size}, TensorOptions(dtype).device(kGpu));
      for (const Tensor& a : {x, x.t()})
        for (const Tensor& b : {x, x.t()}) a.mm(b);
    }
}

}  // namespace

void train_networks(const Announce& announce) {
  for (const std::string& arch : cli::architectures()) {
    announce(arch);
    for (const std::string& optimizer : cli::optimizers()) train_demo(arch, optimizer);
  }
  announce("optimizers");
  for (const std::string& optimizer : cli::optimizers()) step_many_parameters(optimizer);
  step_few_and_many<optim::Adagrad>();
  step_few_and_many<optim::Adadelta>();
  step_few_and_many<optim::Adamax>();
  step_few_and_many<optim::NAdam>();
  step_few_and_many<optim::RAdam>();
  announce("losses");
  for (const int64_t batch : {32, 8192}) other_losses(batch);
  announce("small products");
  small_products();
  announce("residual network");
  Residual residual;
  train(residual, rand({4, 3, 16, 16}).to(kGpu), randint(10, {4}).to(kGpu));
  announce("language model");
  Block block;
  train(block, randint(Block::kWords, {8, 32}).to(kGpu), randint(Block::kWords, {8 * 32}).to(kGpu));
  announce("encoder");
  Encoder encoder;
  train(encoder, rand({64, 16, 256}).to(kGpu), randint(10, {64 * 16}).to(kGpu));
  announce("recurrent networks");
  Sequences<nn::LSTM, nn::LSTMOptions> lstm;
  train(lstm, rand({32, 50, 128}).to(kGpu), randint(10, {32}).to(kGpu));
  Sequences<nn::GRU, nn::GRUOptions> gru;
  train(gru, rand({32, 50, 128}).to(kGpu), randint(10, {32}).to(kGpu));
}

}  // namespace argand::pack
