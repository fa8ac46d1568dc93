#include "argand/io/mnist.h"

#include <array>
#include <filesystem>

#include "argand/base/array_ref.h"
#include "argand/base/env.h"
#include "argand/io/file.h"
#include "argand/io/idx.h"

namespace argand::io {

namespace fs = std::filesystem;

namespace {

constexpr std::array<const char*, 4> kFiles = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                               "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

bool is_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// Empty if the folder has the file under none of its names.
std::string find_file(const std::string& folder, const std::string& name) {
  std::string dotted = name;
  dotted[name.find("-idx")] = '.';
  for (const std::string& stem : {name, dotted})
    for (const char* ending : {"", ".gz"})
      if (std::string path = str(folder, "/", stem, ending); is_file(path)) return path;
  return "";
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::vector<std::string> missing_files(const std::string& folder) {
  std::vector<std::string> missing;
  for (const char* name : kFiles)
    if (find_file(folder, name).empty()) missing.push_back(str(name, "[.gz]"));
  return missing;
}

// The places where a data set of this name may be, the preferred one first.
std::vector<std::string> places(const std::string& name) {
  std::vector<std::string> found;
  const auto under = [&](const std::optional<std::string>& root, const char* middle) {
    if (root && !root->empty()) found.push_back(str(*root, middle, "/", name));
  };
  under(env("ARGAND_DATA_DIR"), "");
  under(env("HOME"), "/.cache/argand");
  under("/usr/share/datasets", "");
  return found;
}

ImageSet load(const std::string& folder, const char* images_name, const char* labels_name, int classes) {
  const std::string images_path = find_file(folder, images_name), labels_path = find_file(folder, labels_name);
  IdxArray images = read_idx(images_path), labels = read_idx(labels_path);
  if (images.type != IdxType::kUInt8 || images.sizes.size() != 3)
    throw FileError(str("'", images_path, "': expected images (bytes in 3 dimensions), got ", size_of(images.type),
                        "-byte elements of sizes ", ArrayRef<int64_t>(images.sizes)),
                    images_path, 0);
  if (labels.type != IdxType::kUInt8 || labels.sizes.size() != 1)
    throw FileError(str("'", labels_path, "': expected labels (bytes in 1 dimension), got ", size_of(labels.type),
                        "-byte elements of sizes ", ArrayRef<int64_t>(labels.sizes)),
                    labels_path, 0);
  if (labels.sizes[0] != images.sizes[0])
    throw FileError(
        str("'", labels_path, "': expected one label for each of ", images.sizes[0], " images, got ", labels.sizes[0]),
        labels_path, 0);
  for (size_t i = 0; i < labels.bytes.size(); ++i)
    if (labels.bytes[i] >= classes)
      throw FileError(str("'", labels_path, "': expected labels from 0 to ", classes - 1, ", got ",
                          static_cast<int>(labels.bytes[i]), " at index ", i),
                      labels_path, 0);
  return {images.sizes[0], images.sizes[1], images.sizes[2], std::move(images.bytes), std::move(labels.bytes)};
}

}  // namespace

std::string find_dataset(const std::string& name_or_path) {
  const bool is_path = name_or_path.find('/') != std::string::npos || is_folder(name_or_path);
  const std::vector<std::string> folders = is_path ? std::vector{name_or_path} : places(name_or_path);
  std::string looked;
  for (const std::string& folder : folders) {
    // torchvision keeps the files of a data set in a folder `raw`.
    for (const std::string& candidate : {folder, folder + "/raw"})
      if (missing_files(candidate).empty()) return candidate;
    if (!looked.empty()) looked += "; ";
    looked += str("'", folder, "' ",
                  is_folder(folder) ? str("lacks ", join(missing_files(folder))) : std::string("does not exist"));
  }
  throw FileError(str("no data set '", name_or_path, "': ", looked, ". Expected a folder with ",
                      join({kFiles.begin(), kFiles.end()}),
                      " (plain or .gz); Fashion-MNIST on Debian and Ubuntu: apt install dataset-fashion-mnist"),
                  name_or_path, 0);
}

Mnist load_mnist(const std::string& folder, int classes) {
  ARGAND_CHECK(ValueError, classes >= 1 && classes <= 256, "load_mnist: expected 1 to 256 classes, got ", classes);
  if (const auto missing = missing_files(folder); !missing.empty())
    throw FileError(str("the data set in '", folder, "' lacks ", join(missing)), folder, 0);
  Mnist mnist{load(folder, kFiles[0], kFiles[1], classes), load(folder, kFiles[2], kFiles[3], classes)};
  if (mnist.train.height != mnist.test.height || mnist.train.width != mnist.test.width)
    throw FileError(str("the data set in '", folder, "' has training images of ", mnist.train.height, "x",
                        mnist.train.width, " and test images of ", mnist.test.height, "x", mnist.test.width),
                    folder, 0);
  return mnist;
}

}  // namespace argand::io
