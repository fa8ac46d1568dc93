#include "tools/argand/image_data.h"

#include <array>
#include <cstring>

#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"

namespace argand::cli {
namespace {

constexpr double kMean = 0.2860, kDeviation = 0.3530;  // of Fashion-MNIST's training pixels, in [0, 1]

Tensor bytes_tensor(const std::vector<uint8_t>& bytes, Dims sizes) {
  const Tensor t = exec::new_tensor({std::move(sizes), kByte}, kCPU);
  if (!bytes.empty()) std::memcpy(raw<uint8_t>(t), bytes.data(), bytes.size());
  return t;
}

}  // namespace

Tensor normalize_images(const Tensor& bytes) {
  return bytes.to(kFloat).unsqueeze(1).mul_(1 / (255 * kDeviation)).sub_(kMean / kDeviation);
}

std::shared_ptr<const data::AnyDataset> make_dataset(const io::ImageSet& set) {
  auto rows = std::make_shared<data::TensorDataset>(bytes_tensor(set.images, {set.count, set.height, set.width}),
                                                    bytes_tensor(set.labels, {set.count}).to(kLong));
  return std::make_shared<data::MapDataset>(std::move(rows), [](data::Example<> e) {
    e.data = normalize_images(e.data);
    return e;
  });
}

// A damaged label must not pass for a class of its own: beyond the ten of MNIST, classes are numbered without gaps.
ImageTask task_of(const io::Mnist& mnist) {
  const io::ImageSet& train = mnist.train;
  ARGAND_CHECK(ValueError, train.count > 0, "the data set has no training images");
  std::array<bool, 257> seen{};
  for (const uint8_t label : train.labels) seen[label] = true;
  int64_t classes = 10;
  while (seen[static_cast<size_t>(classes)]) ++classes;
  const auto check = [&](const char* what, const std::vector<uint8_t>& labels) {
    for (size_t i = 0; i < labels.size(); ++i)
      ARGAND_CHECK(ValueError, labels[i] < classes, what, " label ", static_cast<int>(labels[i]), " at index ", i,
                   " is out of range: expected 0 to ", classes - 1, ", for no training image has label ", classes);
  };
  check("training", train.labels);
  check("test", mnist.test.labels);
  return {1, train.height, train.width, classes};
}

std::vector<std::string> class_names(const std::string& data) {
  if (data.find("fashion") == std::string::npos) return {};
  return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"};
}

}  // namespace argand::cli
