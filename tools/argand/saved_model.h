// A network from a file that `argand train` saved.
#pragma once
#include "tools/argand/models.h"

namespace argand::cli {

struct SavedModel {
  std::shared_ptr<Classifier> model;  // in evaluation mode
  ImageTask task;
  std::string data;  // what it was trained on
};
SavedModel load_model(const std::string& path);

}  // namespace argand::cli
