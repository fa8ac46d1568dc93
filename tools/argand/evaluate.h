// A network's results on a set of images.
#pragma once
#include <vector>

#include "argand/data/dataset.h"
#include "tools/argand/confusion.h"
#include "tools/argand/models.h"

namespace argand::cli {

struct Prediction {
  int64_t index;  // of the sample
  int truth, predicted;
  double probability;  // that the network gave to its prediction
};

struct Evaluation {
  double loss = 0, accuracy = 0;
  ConfusionMatrix confusion;
  std::vector<Prediction> mistakes;  // the surest first, at most as many as asked for
};

// Runs in evaluation mode and gives the network its mode back.
Evaluation evaluate(Classifier& model, const data::AnyDataset& set, int classes, const Device& device,
                    size_t most_mistakes = 0);

}  // namespace argand::cli
