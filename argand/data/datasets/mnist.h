// MNIST and its like: 28 x 28 grey images as float [1, 28, 28] in [0, 1], with an int64 label.
#pragma once
#include <string>

#include "argand/data/datasets/base.h"

namespace argand::data::datasets {

class MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };
  // The four files of MNIST in a folder, as io::load_mnist takes them (plain or .gz), or a name that io::find_dataset
  // knows.  IoError where they are missing or damaged.
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);

  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;
  bool is_train() const noexcept { return mode_ == Mode::kTrain; }
  const Tensor& images() const { return images_; }    // [N, 1, 28, 28]
  const Tensor& targets() const { return targets_; }  // [N]

 private:
  Mode mode_;
  Tensor images_, targets_;
};

}  // namespace argand::data::datasets
