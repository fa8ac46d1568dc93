#include "tools/argand/image_data.h"

#include <algorithm>
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

std::shared_ptr<const data::Dataset> make_dataset(const io::ImageSet& set) {
  auto rows = std::make_shared<data::TensorDataset>(bytes_tensor(set.images, {set.count, set.height, set.width}),
                                                    bytes_tensor(set.labels, {set.count}).to(kLong));
  return std::make_shared<data::MapDataset>(std::move(rows), [](data::Example e) {
    e.data = normalize_images(e.data);
    return e;
  });
}

ImageTask task_of(const io::ImageSet& set) {
  const uint8_t highest = set.labels.empty() ? 0 : *std::max_element(set.labels.begin(), set.labels.end());
  return {1, set.height, set.width, std::max<int64_t>(10, highest + 1)};
}

std::vector<std::string> class_names(const std::string& data) {
  if (data.find("fashion") == std::string::npos) return {};
  return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"};
}

}  // namespace argand::cli
