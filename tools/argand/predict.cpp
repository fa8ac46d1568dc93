#include "tools/argand/predict.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>
#include <sstream>

#include "argand/core/grad_mode.h"
#include "argand/exec/invoke.h"
#include "argand/io/file.h"
#include "argand/models/models.h"
#include "argand/models/tables.h"
#include "argand/models/weights.h"
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

// An image as one row of bytes [1, height, width] of the model's size.
Tensor gray_bytes(const vision::Image& decoded, const ImageTask& task, bool invert) {
  const vision::Image image =
      vision::resize(vision::to_gray(decoded), static_cast<int>(task.width), static_cast<int>(task.height));
  const Tensor t = exec::new_tensor({Dims{1, task.height, task.width}, kByte}, kCPU);
  uint8_t* p = raw<uint8_t>(t);
  for (size_t i = 0; i < image.pixels.size(); ++i)
    p[i] = invert ? static_cast<uint8_t>(255 - image.pixels[i]) : image.pixels[i];
  return t;
}

std::vector<std::string> read_lines(const std::string& path) {
  const std::vector<uint8_t> bytes = io::read_file(path, int64_t{1} << 24);
  std::istringstream text(std::string(bytes.begin(), bytes.end()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

struct Predictor {
  std::function<Tensor(const vision::Image&)> scores;  // [1, classes], before softmax
  std::vector<std::string> names;                      // of the classes, if known
};

Predictor published_predictor(const PredictOptions& o, const Device& device) {
  ARGAND_CHECK(ValueError, !o.weights.empty(), o.model, ": expected --weights, a file or a name such as IMAGENET1K_V1");
  ARGAND_CHECK(ValueError, !o.invert, o.model, ": --invert is for networks of `argand train`");
  const auto net = models::make_model(o.model, o.weights);
  net->eval();
  net->fuse();
  net->to(device);
  const models::Published* known = models::find_published(o.model, o.weights);
  const int64_t resize = known ? known->resize : 256;
  return {[net, device, resize](const vision::Image& image) {
            return net->forward(models::imagenet_input(image, resize).to(device));
          },
          {}};
}

Predictor predictor_of(const PredictOptions& o, const Device& device) {
  Predictor out;
  const auto& published = models::architectures();
  if (std::any_of(published.begin(), published.end(), [&](const auto& a) { return a.name == o.model; })) {
    out = published_predictor(o, device);
  } else {
    ARGAND_CHECK(ValueError, o.weights.empty(), o.model, ": --weights is for published networks; a file of `argand ",
                 "train` has its own");
    const SavedModel saved = load_model(o.model);
    saved.model->to(device);
    out = {[saved, device, invert = o.invert](const vision::Image& image) {
             return saved.model->forward(normalize_images(gray_bytes(image, saved.task, invert)).to(device));
           },
           class_names(saved.data)};
  }
  if (!o.classes.empty()) out.names = read_lines(o.classes);
  return out;
}

void print_top(const std::string& file, const Tensor& p, const std::vector<std::string>& names, int top) {
  const float* values = raw<float>(p);
  std::vector<size_t> order(static_cast<size_t>(p.numel()));
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] > values[b]; });
  std::printf("%s\n", file.c_str());
  for (size_t i = 0; i < std::min<size_t>(order.size(), static_cast<size_t>(top)); ++i)
    std::printf("  %6.2f%%  %s\n", 100.0 * static_cast<double>(values[order[i]]), class_name(names, order[i]).c_str());
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

int predict(const PredictOptions& o) {
  const Device device = choose_device(o.device);
  const Predictor predictor = predictor_of(o, device);
  const InferenceMode inference;
  int failed = 0;
  for (const std::string& file : o.images) {
    try {
      const Tensor p = predictor.scores(vision::decode_image(io::read_file(file), file)).softmax(1).cpu();
      print_top(file, p, predictor.names, o.top);
    } catch (const Error& e) {
      std::fprintf(stderr, "argand predict: %s\n", e.what());
      failed = 1;
    }
  }
  return failed;
}

}  // namespace argand::cli
