// A small training run that can be stopped after any step and goes on from a file: what these tests compare bit by bit.
#pragma once
#include <memory>
#include <string>

#include "argand/data/data_loader.h"
#include "argand/nn/module.h"
#include "argand/optim/lr_scheduler.h"
#include "argand/serialize/training_state.h"

namespace argand::train_test {

struct Setting {
  std::string network;    // "mlp" or "cnn"; both draw random numbers in every step (dropout)
  std::string optimizer;  // "sgd", "adam", "adamw" or "rmsprop", each with a scheduler of its own
  int64_t workers = 0;
};

class Network : public nn::Module {
 public:
  virtual Tensor forward(Tensor images) = 0;
};

class Trainer {
 public:
  static constexpr int64_t kEpochs = 3, kBatches = 4;
  static constexpr int64_t kSteps = kEpochs * kBatches;

  explicit Trainer(const Setting& setting);
  // Goes on until `steps` steps are done in all; returns the number of steps that were.
  int64_t run_until(int64_t steps);
  void save(const std::string& path);
  void load(const std::string& path);
  // SHA-256 over the bytes of all parameters and buffers.
  std::string digest() const;

 private:
  void step(const data::Example<>& batch);
  void end_epoch();
  serialize::TrainingState everything();

  std::shared_ptr<Network> network_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<optim::LRScheduler> scheduler_;
  std::unique_ptr<optim::ReduceLROnPlateau> plateau_;  // instead of scheduler_, for "rmsprop"
  data::DataLoader loader_;
  int64_t steps_ = 0;
  double epoch_loss_ = 0;
};

}  // namespace argand::train_test
