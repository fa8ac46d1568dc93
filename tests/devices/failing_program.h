// A training step in small whose statements may fail, and what its tensors must hold afterwards: Note [Failures at
// issue time].
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "argand/base/error.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/ops/print/print.h"

namespace argand::testing {

using Tensors = std::map<std::string, Tensor>;
using Statement = std::function<void(Tensors&, const Device&)>;

// A training step in small: gradients, a rule with state, sums that look at data, views, numbers of the host.
inline const std::vector<Statement>& program() {
  static const std::vector<Statement> statements = {
      [](Tensors& t, const Device& d) { t["x"] = (arange(12, kFloat) * 0.25).to(d); },
      [](Tensors& t, const Device& d) { t["w"] = (arange(12, kFloat) * -0.5 + 1).to(d); },
      [](Tensors& t, const Device& d) { t["m"] = zeros({12}, TensorOptions(kFloat).device(d)); },
      [](Tensors& t, const Device&) { t["h"] = (t.at("x") * t.at("w")).tanh(); },
      [](Tensors& t, const Device&) { t["other"] = t.at("x") * 3 + 1; },
      [](Tensors& t, const Device&) { t["g"] = (1 - t.at("h") * t.at("h")) * t.at("x"); },
      [](Tensors& t, const Device&) { t.at("m").mul_(0.5); },
      [](Tensors& t, const Device&) { t.at("m").add_(t.at("g")); },
      [](Tensors& t, const Device&) { t.at("w").sub_(t.at("m") * 0.125); },
      [](Tensors& t, const Device&) { t.at("w").slice(0, 0, 6).clamp_(-1, 1); },
      [](Tensors& t, const Device&) { t["loss"] = t.at("h").sum(); },
      [](Tensors& t, const Device&) { t["late"] = t.at("w") + t.at("other"); },
      [](Tensors& t, const Device&) { t.at("other").fill_(7); },
      [](Tensors& t, const Device&) { t["last"] = t.at("other") * 2; },
  };
  return statements;
}

// Runs the statements for which `runs` is true, but for those that throw, which it then says.
inline void run(Tensors& tensors, const Device& device, std::vector<char>& runs) {
  for (size_t i = 0; i < program().size(); ++i) {
    if (!runs[i]) continue;
    try {
      program()[i](tensors, device);
    } catch (const std::exception&) {
      runs[i] = false;
    }
  }
}

inline bool is_lost(const Tensor& t) {
  try {
    t.cpu();
    return false;
  } catch (const Error&) {
    return true;
  }
}
// All tensors hold what the statements that did not throw make of them on `device`, or say that it is lost; how many
// do.
inline int count_lost(const Tensors& tensors, std::vector<char> ran, const Device& device) {
  Tensors right;
  run(right, device, ran);
  int lost = 0;
  for (const auto& [name, t] : tensors) {
    if (is_lost(t)) {
      ++lost;
      EXPECT_TRUE(is_lost(t)) << name << " was lost, and then was not";
      continue;
    }
    const auto found = right.find(name);
    if (found != right.end()) {
      EXPECT_TRUE(t.cpu().equal(found->second.cpu()))
          << name << " is silently wrong: " << to_string(t) << "instead of " << to_string(found->second);
    }
  }
  return lost;
}

}  // namespace argand::testing
