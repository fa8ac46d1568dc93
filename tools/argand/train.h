// `argand train`.
#pragma once
#include "tools/argand/train_options.h"

namespace argand::cli {

// Trains, writes metrics, report, model and checkpoints into options.out.  Returns the exit status: 0, or 128 + N when
// signal N ended the run after its step, with a checkpoint saved.
int train(const TrainOptions& options);

}  // namespace argand::cli
