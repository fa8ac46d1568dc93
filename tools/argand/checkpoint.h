// The state of a training run in one file: what it takes to go on as if it had never stopped.
#pragma once
#include <string>

#include "argand/nn/module.h"
#include "argand/optim/grad_scaler.h"
#include "argand/optim/optimizer.h"
#include "tools/argand/metrics.h"

namespace argand::cli {

// Where a run stands.  Numbers are kept exactly.
struct RunState {
  int epoch = 1;                      // the current one, from 1
  int64_t batch = 0;                  // batches of it that are done
  int64_t step = 0;                   // over all epochs
  double loss_sum = 0;                // of the current epoch, over samples
  int64_t correct = 0;                // of the current epoch
  double seconds = 0;                 // spent in the current epoch
  std::vector<uint8_t> rng_at_epoch;  // the default generator's state before the current epoch's order was drawn
  std::vector<uint8_t> rng_now;       // after the last step; empty before the first of the epoch
  std::vector<StepLoss> curve;        // of all steps, for the report
};

// What the run was made with; a resumed run must agree.
using RunFacts = OrderedDict<std::string, std::string>;

void save_checkpoint(const std::string& path, const nn::Module& model, const optim::Optimizer& optimizer,
                     const amp::GradScaler& scaler, const RunState& state, const RunFacts& facts);
// IoError if the file is missing or damaged, ValueError naming what does not fit; then nothing has changed.
RunState load_checkpoint(const std::string& path, nn::Module& model, optim::Optimizer& optimizer,
                         amp::GradScaler& scaler, const RunFacts& facts);

// A trained network alone, with what is needed to make it again.
void save_model(const std::string& path, const nn::Module& model, const RunFacts& facts);

}  // namespace argand::cli
