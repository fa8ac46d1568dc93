#include "tests/train/trainer.h"

#include <cstring>

#include "argand/autograd/engine.h"
#include "argand/base/sha256.h"
#include "argand/core/cpu_generator.h"
#include "argand/exec/invoke.h"
#include "argand/io/safetensors.h"
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
std::shared_ptr<const data::Dataset> make_data() {
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

Tensor bytes_tensor(const std::vector<uint8_t>& bytes) {
  const Tensor t = empty({static_cast<int64_t>(bytes.size())}, kByte);
  std::memcpy(raw<uint8_t>(t), bytes.data(), bytes.size());
  return t;
}
std::vector<uint8_t> bytes_of(const Tensor& t) {
  const uint8_t* p = raw<uint8_t>(t);
  return {p, p + t.numel()};
}

void insert_all(StateDict& into, const std::string& prefix, const StateDict& from) {
  for (const auto& item : from) into.insert(prefix + item.key(), item.value());
}
StateDict part(const StateDict& all, const std::string& prefix) {
  StateDict out;
  for (const auto& item : all)
    if (item.key().compare(0, prefix.size(), prefix) == 0) out.insert(item.key().substr(prefix.size()), item.value());
  return out;
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
    Generator g = default_cpu_generator();
    const int64_t first = steps_ % kBatches;
    const std::vector<uint8_t> now = g.state();
    if (first == 0)
      rng_at_epoch_ = now;
    else
      g.set_state(rng_at_epoch_);  // the order of the epoch that was left is drawn again
    auto batch = loader_.begin_at(first);
    if (first != 0) g.set_state(now);
    for (; batch != loader_.end() && steps_ < steps; ++batch) step(*batch);
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

void Trainer::save(const std::string& path) const {
  StateDict all;
  insert_all(all, "network.", network_->state_dict());
  insert_all(all, "optimizer.", optimizer_->state_dict());
  insert_all(all, "scheduler.", scheduler_ ? scheduler_->state_dict() : plateau_->state_dict());
  all.insert("steps", full({}, steps_, kLong));
  all.insert("epoch_loss", full({}, epoch_loss_, kDouble));
  all.insert("rng", bytes_tensor(default_cpu_generator().state()));
  all.insert("rng_at_epoch", bytes_tensor(rng_at_epoch_));
  io::save_safetensors(path, all);
}

void Trainer::load(const std::string& path) {
  const StateDict all = io::load_safetensors(path).tensors;
  network_->load_state_dict(part(all, "network."));
  optimizer_->load_state_dict(part(all, "optimizer."));
  if (scheduler_)
    scheduler_->load_state_dict(part(all, "scheduler."));
  else
    plateau_->load_state_dict(part(all, "scheduler."));
  steps_ = all.find("steps")->item<int64_t>();
  epoch_loss_ = all.find("epoch_loss")->item<double>();
  rng_at_epoch_ = bytes_of(*all.find("rng_at_epoch"));
  default_cpu_generator().set_state(bytes_of(*all.find("rng")));
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
