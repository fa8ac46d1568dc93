// Image sets as the networks want them.
#pragma once
#include <memory>
#include <string>

#include "argand/data/dataset.h"
#include "argand/io/mnist.h"
#include "tools/argand/models.h"

namespace argand::cli {

// Images of bytes become float32 [N, 1, height, width] in [0, 1], minus the mean and divided by the deviation that
// Fashion-MNIST's pixels have.
Tensor normalize_images(const Tensor& bytes);

// The set as a data set of normalised batches: data float32 [N, 1, H, W], target int64 [N].
std::shared_ptr<const data::AnyDataset> make_dataset(const io::ImageSet& set);

// What a network for this data set must take and tell apart; ValueError for an empty set or a label out of range.
ImageTask task_of(const io::Mnist& mnist);
// Names of the classes where the data set is known by its folder, else empty.
std::vector<std::string> class_names(const std::string& data);

}  // namespace argand::cli
