// CIFAR-10 and CIFAR-100: colour images as float [3, 32, 32] in [0, 1], with an int64 label.
#pragma once
#include <string>

#include "argand/data/datasets/base.h"
#include "argand/io/cifar.h"

namespace argand::data::datasets {

class CIFAR : public Dataset<CIFAR> {
 public:
  enum class Mode { kTrain, kTest };
  // A folder with the files of the binary version, as io::load_cifar takes them.  IoError where they are missing or
  // damaged.
  explicit CIFAR(const std::string& root, io::CifarKind kind = io::CifarKind::k10, Mode mode = Mode::kTrain);

  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;
  const Tensor& images() const { return images_; }    // [N, 3, 32, 32], uint8
  const Tensor& targets() const { return targets_; }  // [N]

 private:
  Tensor images_, targets_;
};

}  // namespace argand::data::datasets
