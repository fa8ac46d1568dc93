#include "tools/argand/confusion.h"

#include <algorithm>
#include <numeric>

#include "argand/base/error.h"

namespace argand::cli {

namespace {

double share(int64_t part, int64_t whole) { return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0; }

}  // namespace

ConfusionMatrix::ConfusionMatrix(int classes) : classes_(classes), counts_(size_t(classes) * size_t(classes)) {}

void ConfusionMatrix::add(int truth, int predicted, int64_t count) {
  ARGAND_CHECK(IndexError, truth >= 0 && truth < classes_ && predicted >= 0 && predicted < classes_,
               "ConfusionMatrix: expected classes from 0 to ", classes_ - 1, ", got ", truth, " taken for ", predicted);
  counts_[size_t(truth) * size_t(classes_) + size_t(predicted)] += count;
}

int64_t ConfusionMatrix::at(int truth, int predicted) const {
  return counts_[size_t(truth) * size_t(classes_) + size_t(predicted)];
}

int64_t ConfusionMatrix::total() const { return std::accumulate(counts_.begin(), counts_.end(), int64_t{0}); }

int64_t ConfusionMatrix::row_total(int truth) const {
  int64_t sum = 0;
  for (int p = 0; p < classes_; ++p) sum += at(truth, p);
  return sum;
}

int64_t ConfusionMatrix::column_total(int predicted) const {
  int64_t sum = 0;
  for (int t = 0; t < classes_; ++t) sum += at(t, predicted);
  return sum;
}

double ConfusionMatrix::accuracy() const {
  int64_t right = 0;
  for (int c = 0; c < classes_; ++c) right += at(c, c);
  return share(right, total());
}

double ConfusionMatrix::recall(int truth) const { return share(at(truth, truth), row_total(truth)); }

double ConfusionMatrix::precision(int predicted) const {
  return share(at(predicted, predicted), column_total(predicted));
}

std::vector<ConfusionMatrix::Pair> ConfusionMatrix::worst_pairs(size_t most) const {
  std::vector<Pair> pairs;
  for (int t = 0; t < classes_; ++t)
    for (int p = 0; p < classes_; ++p)
      if (t != p && at(t, p) > 0) pairs.push_back({t, p, at(t, p)});
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.count > b.count; });
  if (pairs.size() > most) pairs.resize(most);
  return pairs;
}

}  // namespace argand::cli
