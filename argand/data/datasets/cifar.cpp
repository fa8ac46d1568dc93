#include "argand/data/datasets/cifar.h"

#include "argand/ops/create/blob.h"
#include "argand/ops/functions.h"

namespace argand::data::datasets {

CIFAR::CIFAR(const std::string& root, io::CifarKind kind, Mode mode) {
  io::CifarSet set = io::load_cifar(root, kind, mode == Mode::kTrain);
  images_ = from_blob(set.images.data(), {set.count, 3, 32, 32}, kByte).clone();
  targets_ = from_blob(set.labels.data(), {set.count}, kByte).to(kLong);
}

Example<> CIFAR::get(size_t index) {
  const auto i = static_cast<int64_t>(index);
  return {images_[i].to(kFloat).div_(255), targets_[i]};
}

std::optional<size_t> CIFAR::size() const { return static_cast<size_t>(images_.size(0)); }

}  // namespace argand::data::datasets
