// Tables of the published networks: their shapes and the files of their weights.  The Python front reads the same
// tables.  Sources: He et al. 2015 (ResNet), Howard et al. 2019 (MobileNetV3), and torchvision's list of its files.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace argand::models {

// An inverted residual block of MobileNetV3.
struct MobileBlock {
  int64_t kernel, expanded, out;
  bool squeeze, hardswish;  // ReLU otherwise
  int64_t stride;
};

// A ResNet has `stages`, a MobileNetV3 `blocks`.
struct Architecture {
  std::string name;
  std::vector<int64_t> stages;  // blocks of each of the four
  bool bottleneck;              // blocks of three convolutions, the last of four times the channels
  std::vector<MobileBlock> blocks;
  int64_t hidden;  // outputs of the layer before the last
};
const std::vector<Architecture>& architectures();
// ValueError for an unknown name; it lists the known names.
const Architecture& architecture(const std::string& name);

// A file of weights.  Its name ends with the first 8 digits of its SHA-256; the last of an architecture is its DEFAULT.
struct Published {
  std::string architecture, name, file;
  int64_t resize;  // size of an image's shorter side, before 224 x 224 are cut out
};
const std::vector<Published>& published();

}  // namespace argand::models
