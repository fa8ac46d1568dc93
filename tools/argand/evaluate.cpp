#include "tools/argand/evaluate.h"

#include <algorithm>
#include <numeric>

#include "argand/core/grad_mode.h"
#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"

namespace argand::cli {

Evaluation evaluate(Classifier& model, const data::AnyDataset& set, int classes, const Device& device,
                    size_t most_mistakes) {
  constexpr int64_t kBatch = 1000;
  const InferenceMode inference;
  const bool was_training = model.is_training();
  model.eval();
  Evaluation out;
  out.confusion = ConfusionMatrix(classes);
  double loss = 0;
  for (int64_t first = 0; first < set.size(); first += kBatch) {
    std::vector<int64_t> indices(static_cast<size_t>(std::min(kBatch, set.size() - first)));
    std::iota(indices.begin(), indices.end(), first);
    const data::Example<> batch = set.get_batch(indices);
    const Tensor target = batch.target.to(device), logits = model.forward(batch.data.to(device));
    loss += cross_entropy_loss(logits, target, {}, Reduction::Sum).item<double>();
    const auto [top, at] = logits.softmax(1).max(1);
    const Tensor p = top.cpu(), predicted = at.cpu();
    for (size_t i = 0; i < indices.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      const Prediction q{indices[i], static_cast<int>(raw<int64_t>(batch.target)[row]),
                         static_cast<int>(raw<int64_t>(predicted)[row]), static_cast<double>(raw<float>(p)[row])};
      out.confusion.add(q.truth, q.predicted);
      if (q.truth != q.predicted && most_mistakes > 0) out.mistakes.push_back(q);
    }
  }
  std::stable_sort(out.mistakes.begin(), out.mistakes.end(),
                   [](const Prediction& a, const Prediction& b) { return a.probability > b.probability; });
  if (out.mistakes.size() > most_mistakes) out.mistakes.resize(most_mistakes);
  out.loss = set.size() > 0 ? loss / static_cast<double>(set.size()) : 0;
  out.accuracy = out.confusion.accuracy();
  model.train(was_training);
  return out;
}

}  // namespace argand::cli
