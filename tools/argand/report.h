// report.html: a training run on one page that needs nothing but itself (no script, no font, no picture from
// elsewhere), in light and dark.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "argand/vision/image.h"
#include "tools/argand/confusion.h"
#include "tools/argand/metrics.h"

namespace argand::cli {

struct Mistake {
  vision::Image image;
  int truth = 0, predicted = 0;
  double probability = 0;  // that the model gave to its prediction
};

struct Report {
  std::string title;     // "cnn on fashion-mnist"
  std::string subtitle;  // date, device, ...
  std::string note;      // a sentence in a box at the top, such as that the run was interrupted; may be empty
  std::vector<std::pair<std::string, std::string>> settings;  // name, value
  std::vector<EpochMetrics> epochs;
  std::vector<StepLoss> steps;           // in order; any number of them: the page holds a few hundred points
  ConfusionMatrix confusion;             // of the test set
  std::vector<std::string> class_names;  // missing ones are written as numbers
  std::vector<Mistake> mistakes;         // worst first
};

std::string to_html(const Report& report);

// Written by AtomicFile; throws IoError.
void write_report(const std::string& path, const Report& report);

}  // namespace argand::cli
