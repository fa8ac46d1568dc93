// Recorded results of torch.optim: tests/data/optim_trajectories.txt, described in make_optim_trajectories.py.
#pragma once
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace argand::optim::testing {

using Numbers = std::vector<double>;
using Settings = std::map<std::string, std::string>;

struct OptimizerCase {
  std::string text, name;
  std::vector<Settings> groups;
  std::vector<Numbers> after;
};
struct SchedulerCase {
  std::string text, name;
  Settings settings;
  Numbers rates;
};

inline Numbers numbers(std::istream& in) {
  Numbers out;
  for (std::string word; in >> word;) out.push_back(std::stod(word));
  return out;
}

struct Record {
  std::vector<Numbers> starts;
  std::map<std::pair<int, int>, Numbers> grads;  // by (step, parameter)
  std::vector<OptimizerCase> optimizers;
  std::vector<SchedulerCase> schedulers;

  Record() {
    std::ifstream file("tests/data/optim_trajectories.txt");
    for (std::string line; std::getline(file, line);) read(line);
  }
  void read(const std::string& line) {
    std::istringstream in(line);
    std::string kind, name;
    in >> kind;
    if (kind == "start") {
      starts.push_back(numbers(in));
    } else if (kind == "grad") {
      int step = 0, parameter = 0;
      in >> step >> parameter;
      grads[{step, parameter}] = numbers(in);
    } else if (kind == "after") {
      optimizers.back().after.push_back(numbers(in));
    } else if (kind == "rates") {
      schedulers.back().rates = numbers(in);
    } else {
      in >> name;
      std::vector<Settings> groups(1);
      for (std::string word; in >> word;) {
        if (word == ";")
          groups.push_back(groups.back());
        else
          groups.back()[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
      }
      if (kind == "optimizer")
        optimizers.push_back({line, name, groups, {}});
      else
        schedulers.push_back({line, name, groups[0], {}});
    }
  }
};

inline const Record& record() {
  static const Record& r = *new Record;
  return r;
}

}  // namespace argand::optim::testing
