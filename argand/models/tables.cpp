#include "argand/models/tables.h"

#include "argand/base/error.h"

namespace argand::models {

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture>& all = *new std::vector<Architecture>{{"resnet18", {2, 2, 2, 2}, false, {}, 0},
                                                                               {"resnet34", {3, 4, 6, 3}, false, {}, 0},
                                                                               {"resnet50", {3, 4, 6, 3}, true, {}, 0},
                                                                               {"mobilenet_v3_small",
                                                                                {},
                                                                                false,
                                                                                {{3, 16, 16, true, false, 2},
                                                                                 {3, 72, 24, false, false, 2},
                                                                                 {3, 88, 24, false, false, 1},
                                                                                 {5, 96, 40, true, true, 2},
                                                                                 {5, 240, 40, true, true, 1},
                                                                                 {5, 240, 40, true, true, 1},
                                                                                 {5, 120, 48, true, true, 1},
                                                                                 {5, 144, 48, true, true, 1},
                                                                                 {5, 288, 96, true, true, 2},
                                                                                 {5, 576, 96, true, true, 1},
                                                                                 {5, 576, 96, true, true, 1}},
                                                                                1024},
                                                                               {"mobilenet_v3_large",
                                                                                {},
                                                                                false,
                                                                                {{3, 16, 16, false, false, 1},
                                                                                 {3, 64, 24, false, false, 2},
                                                                                 {3, 72, 24, false, false, 1},
                                                                                 {5, 72, 40, true, false, 2},
                                                                                 {5, 120, 40, true, false, 1},
                                                                                 {5, 120, 40, true, false, 1},
                                                                                 {3, 240, 80, false, true, 2},
                                                                                 {3, 200, 80, false, true, 1},
                                                                                 {3, 184, 80, false, true, 1},
                                                                                 {3, 184, 80, false, true, 1},
                                                                                 {3, 480, 112, true, true, 1},
                                                                                 {3, 672, 112, true, true, 1},
                                                                                 {5, 672, 160, true, true, 2},
                                                                                 {5, 960, 160, true, true, 1},
                                                                                 {5, 960, 160, true, true, 1}},
                                                                                1280}};
  return all;
}

const Architecture& architecture(const std::string& name) {
  std::string known;
  for (const Architecture& a : architectures()) {
    if (a.name == name) return a;
    known += (known.empty() ? "" : ", ") + a.name;
  }
  ARGAND_THROW(ValueError, "unknown network '", name, "'; there are ", known);
}

const std::vector<Published>& published() {
  static const std::vector<Published>& all =
      *new std::vector<Published>{{"resnet18", "IMAGENET1K_V1", "resnet18-f37072fd.pth", 256},
                                  {"resnet34", "IMAGENET1K_V1", "resnet34-b627a593.pth", 256},
                                  {"resnet50", "IMAGENET1K_V1", "resnet50-0676ba61.pth", 256},
                                  {"resnet50", "IMAGENET1K_V2", "resnet50-11ad3fa6.pth", 232},
                                  {"mobilenet_v3_small", "IMAGENET1K_V1", "mobilenet_v3_small-047dcff4.pth", 256},
                                  {"mobilenet_v3_large", "IMAGENET1K_V1", "mobilenet_v3_large-8738ca79.pth", 256},
                                  {"mobilenet_v3_large", "IMAGENET1K_V2", "mobilenet_v3_large-5c1a4163.pth", 232}};
  return all;
}

}  // namespace argand::models
