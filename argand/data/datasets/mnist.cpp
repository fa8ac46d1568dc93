#include "argand/data/datasets/mnist.h"

#include "argand/io/mnist.h"
#include "argand/ops/create/blob.h"
#include "argand/ops/functions.h"

namespace argand::data::datasets {

MNIST::MNIST(const std::string& root, Mode mode) : mode_(mode) {
  io::Mnist files = io::load_mnist(io::find_dataset(root));
  io::ImageSet& set = mode == Mode::kTrain ? files.train : files.test;
  images_ = from_blob(set.images.data(), {set.count, 1, set.height, set.width}, kByte).to(kFloat).div_(255);
  targets_ = from_blob(set.labels.data(), {set.count}, kByte).to(kLong);
}

Example<> MNIST::get(size_t index) {
  const auto i = static_cast<int64_t>(index);
  return {images_[i], targets_[i]};
}

std::optional<size_t> MNIST::size() const { return static_cast<size_t>(images_.size(0)); }

}  // namespace argand::data::datasets
