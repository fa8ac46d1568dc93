// Which class was taken for which.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace argand::cli {

class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(int classes = 0);

  void add(int truth, int predicted, int64_t count = 1);  // throws IndexError
  int classes() const { return classes_; }
  int64_t at(int truth, int predicted) const;
  int64_t total() const;
  int64_t row_total(int truth) const;
  int64_t column_total(int predicted) const;
  double accuracy() const;                // the share of all that is right; 0 of nothing
  double recall(int truth) const;         // of the samples of a class, the share found
  double precision(int predicted) const;  // of the predictions of a class, the share right

  struct Pair {
    int truth, predicted;
    int64_t count;
  };
  std::vector<Pair> worst_pairs(size_t most) const;  // the most frequent mistakes, ties in class order

 private:
  int classes_;
  std::vector<int64_t> counts_;  // [truth][predicted]
};

}  // namespace argand::cli
