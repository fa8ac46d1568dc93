#include "tools/argand/predict.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "argand/core/grad_mode.h"
#include "argand/exec/invoke.h"
#include "argand/io/file.h"
#include "argand/ops/functions.h"
#include "argand/vision/image.h"
#include "tools/argand/device.h"
#include "tools/argand/evaluate.h"
#include "tools/argand/image_data.h"
#include "tools/argand/saved_model.h"

namespace argand::cli {
namespace {

std::string class_name(const std::vector<std::string>& names, size_t i) {
  return i < names.size() ? names[i] : std::to_string(i);
}

// An image file as one row of bytes [1, height, width] of the model's size.
Tensor read_image(const std::string& path, const ImageTask& task, bool invert) {
  const vision::Image decoded = vision::decode_image(io::read_file(path), path);
  const vision::Image image =
      vision::resize(vision::to_gray(decoded), static_cast<int>(task.width), static_cast<int>(task.height));
  const Tensor t = exec::new_tensor({Dims{1, task.height, task.width}, kByte}, kCPU);
  uint8_t* p = raw<uint8_t>(t);
  for (size_t i = 0; i < image.pixels.size(); ++i)
    p[i] = invert ? static_cast<uint8_t>(255 - image.pixels[i]) : image.pixels[i];
  return t;
}

}  // namespace

int evaluate_model(const std::string& path, const std::string& data, const std::string& device_text) {
  const Device device = choose_device(device_text);
  const SavedModel saved = load_model(path);
  const std::string& source = data.empty() ? saved.data : data;
  const io::Mnist mnist = io::load_mnist(io::find_dataset(source), static_cast<int>(saved.task.classes));
  ARGAND_CHECK(ValueError, mnist.test.height == saved.task.height && mnist.test.width == saved.task.width, path,
               ": the model takes images of ", saved.task.height, "x", saved.task.width, ", ", source, " has ",
               mnist.test.height, "x", mnist.test.width);
  saved.model->to(device);
  const Evaluation e = evaluate(*saved.model, *make_dataset(mnist.test), static_cast<int>(saved.task.classes), device);
  std::printf("test loss %.4f\ntest accuracy %.4f\n", e.loss, e.accuracy);
  const auto names = class_names(source);
  for (int c = 0; c < e.confusion.classes(); ++c)
    std::printf("  %-12s %.4f\n", class_name(names, static_cast<size_t>(c)).c_str(), e.confusion.recall(c));
  return 0;
}

int predict(const std::string& path, const std::vector<std::string>& images, int top, bool invert,
            const std::string& device_text) {
  const Device device = choose_device(device_text);
  const SavedModel saved = load_model(path);
  saved.model->to(device);
  const auto names = class_names(saved.data);
  const InferenceMode inference;
  int failed = 0;
  for (const std::string& file : images) {
    try {
      const Tensor x = normalize_images(read_image(file, saved.task, invert)).to(device);
      const Tensor p = saved.model->forward(x).softmax(1).cpu();
      const float* values = raw<float>(p);
      std::vector<size_t> order(static_cast<size_t>(saved.task.classes));
      std::iota(order.begin(), order.end(), size_t{0});
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] > values[b]; });
      std::printf("%s\n", file.c_str());
      for (size_t i = 0; i < std::min<size_t>(order.size(), static_cast<size_t>(top)); ++i)
        std::printf("  %6.2f%%  %s\n", 100.0 * static_cast<double>(values[order[i]]),
                    class_name(names, order[i]).c_str());
    } catch (const Error& e) {
      std::fprintf(stderr, "argand predict: %s\n", e.what());
      failed = 1;
    }
  }
  return failed;
}

}  // namespace argand::cli
