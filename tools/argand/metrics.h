// What a training run measured, step by step and epoch by epoch, and its file metrics.csv.
#pragma once
#include <string>
#include <vector>

namespace argand::cli {

struct EpochMetrics {
  int epoch = 0;  // from 1
  double train_loss = 0, train_accuracy = 0;
  double test_loss = 0, test_accuracy = 0;
  double learning_rate = 0;
  double seconds = 0;  // training and testing
};

struct StepLoss {
  double epoch;  // how many epochs were done, such as 1.25
  double loss;
};

// metrics.csv: one line per epoch under a line of names; numbers read back as the same bits.  Every change rewrites the
// file by AtomicFile, so it is whole at any moment.  Throws IoError.
class MetricsCsv {
 public:
  explicit MetricsCsv(std::string path) : path_(std::move(path)) {}

  // For a resumed run: takes over the epochs up to `last` and forgets what an interrupted run measured after its last
  // checkpoint.  A file that does not exist counts as empty.
  void resume(int last);
  void append(const EpochMetrics& row);
  const std::vector<EpochMetrics>& rows() const { return rows_; }

 private:
  void write() const;

  std::string path_;
  std::vector<EpochMetrics> rows_;
};

}  // namespace argand::cli
