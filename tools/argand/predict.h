// `argand eval` and `argand predict`.
#pragma once
#include <string>
#include <vector>

namespace argand::cli {

// Prints loss, accuracy and the accuracy of each class of a saved model on a data set's test images.
int evaluate_model(const std::string& model, const std::string& data, const std::string& device);
// Prints the most probable classes of each image (PNG or JPEG, converted to the model's size and to gray).
int predict(const std::string& model, const std::vector<std::string>& images, int top, bool invert,
            const std::string& device);

}  // namespace argand::cli
