#include "tests/train/trainer.h"

#include "argand/autograd/engine.h"
#include "argand/base/sha256.h"
#include "argand/core/cpu_generator.h"
#include "argand/exec/invoke.h"
#include "argand/io/load.h"
#include "argand/nn/modules/conv.h"
#include "argand/nn/modules/dropout.h"
#include "argand/nn/modules/linear.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/adam.h"
#include "argand/optim/rmsprop.h"
#include "argand/optim/sgd.h"

namespace argand::train_test {
namespace {

// Large enough for several threads to share a convolution, a product and an optimizer step.
constexpr int64_t kSamples = 60, kBatch = 16, kSide = 24, kClasses = 4;
static_assert((kSamples + kBatch - 1) / kBatch == Trainer::kBatches, "the last batch is a short one");

class Mlp final : public Network {
 public:
  Mlp() {
    first_ = register_module("first", nn::Linear(kSide * kSide, 128));
    dropout_ = register_module("dropout", nn::Dropout(0.3));
    last_ = register_module("last", nn::Linear(128, kClasses));
  }
  Tensor forward(Tensor x) override { return last_(dropout_(first_(x.flatten(1)).relu())); }

 private:
  nn::Linear first_{nullptr}, last_{nullptr};
  nn::Dropout dropout_{nullptr};
};

class Cnn final : public Network {
 public:
  Cnn() {
    first_ = register_module("first", nn::Conv2d(nn::Conv2dOptions(1, 8, 3).padding(1)));
    second_ = register_module("second", nn::Conv2d(nn::Conv2dOptions(8, 7, 3).stride(2)));
    dropout_ = register_module("dropout", nn::Dropout(0.3));
    last_ = register_module("last", nn::Linear(7 * 5 * 5, kClasses));
  }
  Tensor forward(Tensor x) override {
    x = max_pool2d(first_(x).relu(), 2);
    return last_(dropout_(second_(x).relu().flatten(1)));
  }

 private:
  nn::Conv2d first_{nullptr}, second_{nullptr};
  nn::Linear last_{nullptr};
  nn::Dropout dropout_{nullptr};
};

// Noise with a bright band for the class; transformed batch by batch, as images of a file would be.
std::shared_ptr<const data::AnyDataset> make_data() {
  const Generator g = make_cpu_generator(11);
  const Tensor images = randint(0, 100, {kSamples, 1, kSide, kSide}, g, kByte),
               labels = arange(kSamples).remainder(kClasses);
  for (int64_t i = 0; i < kSamples; ++i) images[i][0].narrow(0, 6 * (i % kClasses), 6).add_(100);
  return std::make_shared<data::MapDataset>(std::make_shared<data::TensorDataset>(images, labels),
                                            [](data::Example<> e) {
                                              return data::Example<>{e.data.to(kFloat).div(255).sub(0.5), e.target};
                                            });
}

std::shared_ptr<Network> make_network(const std::string& name) {
  if (name == "cnn") return std::make_shared<Cnn>();
  return std::make_shared<Mlp>();
}

std::unique_ptr<optim::Optimizer> make_optimizer(const std::string& name, std::vector<Tensor> p) {
  if (name == "adam") return std::make_unique<optim::Adam>(std::move(p), optim::AdamOptions(0.01).amsgrad(true));
  if (name == "adamw") return std::make_unique<optim::AdamW>(std::move(p), optim::AdamWOptions(0.01));
  if (name == "rmsprop")
    return std::make_unique<optim::RMSprop>(std::move(p), optim::RMSpropOptions(0.005).momentum(0.5).centered(true));
  return std::make_unique<optim::SGD>(std::move(p), optim::SGDOptions(0.1).momentum(0.9).weight_decay(1e-3));
}

data::DataLoaderOptions loader_options(int64_t workers) {
  return data::DataLoaderOptions(kBatch).shuffle(true).workers(workers);
}

}  // namespace

Trainer::Trainer(const Setting& s) : loader_(make_data(), loader_options(s.workers)) {
  manual_seed(3);
  network_ = make_network(s.network);
  optimizer_ = make_optimizer(s.optimizer, network_->parameters());
  if (s.optimizer == "sgd") scheduler_ = std::make_unique<optim::StepLR>(*optimizer_, 1, 0.5);
  if (s.optimizer == "adam") scheduler_ = std::make_unique<optim::CosineAnnealingLR>(*optimizer_, kEpochs);
  if (s.optimizer == "adamw") scheduler_ = std::make_unique<optim::OneCycleLR>(*optimizer_, 0.02, kEpochs);
  if (s.optimizer == "rmsprop")
    plateau_ = std::make_unique<optim::ReduceLROnPlateau>(*optimizer_, optim::ReduceLROnPlateau::Mode::kMin, 0.5, 0,
                                                          10.0, optim::ReduceLROnPlateau::ThresholdMode::kAbs);
}

int64_t Trainer::run_until(int64_t steps) {
  while (steps_ < steps) {
    loader_.load_state_dict(loader_.state_dict());  // goes on with the epoch that was left
    for (const data::Example<>& batch : loader_) {
      step(batch);
      if (steps_ == steps && steps_ % kBatches != 0) break;  // the last batch ends the pass
    }
    if (steps_ % kBatches == 0) end_epoch();
  }
  return steps_;
}

void Trainer::step(const data::Example<>& batch) {
  optimizer_->zero_grad();
  const Tensor loss = cross_entropy_loss(network_->forward(batch.data), batch.target);
  loss.backward();
  optimizer_->step();
  epoch_loss_ += loss.item<double>();
  ++steps_;
}

void Trainer::end_epoch() {
  if (scheduler_) scheduler_->step();
  if (plateau_) plateau_->step(epoch_loss_);
  epoch_loss_ = 0;
}

void Trainer::save(const std::string& path) {
  io::Value state = everything().state(steps_ / kBatches, steps_);
  state.set("epoch_loss", epoch_loss_);
  io::save_torch(path, state);
}

void Trainer::load(const std::string& path) {
  const io::Value state = io::load(path);
  steps_ = everything().restore(state).step;
  epoch_loss_ = state["epoch_loss"].to_double();
}

serialize::TrainingState Trainer::everything() {
  serialize::TrainingState out;
  out.add("network", *network_).add("optimizer", *optimizer_).add("loader", loader_);
  if (scheduler_)
    out.add("scheduler", *scheduler_);
  else
    out.add("scheduler", *plateau_);
  return out;
}

std::string Trainer::digest() const {
  Sha256 hash;
  for (const auto& item : network_->state_dict()) {
    const Tensor t = item.value().contiguous();
    hash.update(item.key()).update(raw<char>(t), t.nbytes());
  }
  return hash.hex();
}

}  // namespace argand::train_test
