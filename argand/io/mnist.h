// Labelled images in the layout of MNIST: a folder with four IDX files, plain or .gz.  Fashion-MNIST, KMNIST and EMNIST
// have the same.
//
//   train-images-idx3-ubyte  train-labels-idx1-ubyte  t10k-images-idx3-ubyte  t10k-labels-idx1-ubyte
//
// (`train-images.idx3-ubyte` and so on, as some archives name them, too.)  Failures throw IoError.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace argand::io {

struct ImageSet {
  int64_t count = 0, height = 0, width = 0;
  std::vector<uint8_t> images;  // count x height x width, row-major, 0 to 255
  std::vector<uint8_t> labels;  // count, each below the number of classes
};

struct Mnist {
  ImageSet train, test;
};

// The folder that holds the four files of `name_or_path`: a folder or a data set's name such as "fashion-mnist" or
// "mnist". A name is looked for in $ARGAND_DATA_DIR, in ~/.cache/argand, and where Debian's packages put data sets.
// Throws with the places and files it looked for and how to get them.
std::string find_dataset(const std::string& name_or_path);

// Checks that there are as many labels as images, that train and test images have one size, and that every label is
// below `classes`; the error names the first that is not.
Mnist load_mnist(const std::string& folder, int classes = 10);

}  // namespace argand::io
