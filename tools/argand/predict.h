// `argand eval` and `argand predict`.
#pragma once
#include <string>
#include <vector>

namespace argand::cli {

// Prints loss, accuracy and the accuracy of each class of a saved model on a data set's test images.
int evaluate_model(const std::string& model, const std::string& data, const std::string& device);
struct PredictOptions {
  std::string model = "out/model.safetensors";  // a file of `argand train`, or the name of a published network
  std::string weights;                          // of a published network: a file, or a published name
  std::string classes;                          // a file with the name of a class on each line
  std::vector<std::string> images;              // PNG or JPEG
  std::string device = "cpu";                   // a few images are done before a GPU has started
  int top = 3;
  bool invert = false;
};
// Prints the most probable classes of each image, converted as the model's training images were: 1 if one failed.
int predict(const PredictOptions& options);

}  // namespace argand::cli
