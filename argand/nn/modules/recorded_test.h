// Recorded results of torch.nn's layers: tests/data/layer_values.txt, whose format make_layer_values.py describes.
#pragma once
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "argand/autograd/engine.h"
#include "argand/core/cpu_generator.h"
#include "argand/nn/modules/values_test.h"

namespace argand::nn {

using Recorded = std::map<std::string, Tensor>;

inline Tensor read_tensor(std::istream& in) {
  std::string sizes_text;
  in >> sizes_text;
  Dims sizes;
  std::istringstream size_words(sizes_text == "-" ? "" : sizes_text);
  for (std::string word; std::getline(size_words, word, ',');) sizes.push_back(std::stoll(word));
  std::vector<double> values;
  bool whole = true;
  for (std::string word; in >> word;) {
    whole = whole && word.find_first_of(".en") == std::string::npos;
    values.push_back(std::stod(word));
  }
  const Tensor t = empty(sizes, kDouble);
  std::copy(values.begin(), values.end(), t.data_ptr<double>());
  return whole ? t.to(kLong) : t;
}

inline const Recorded& recorded(const std::string& name) {
  static const auto& cases = *new std::map<std::string, Recorded>([] {
    std::map<std::string, Recorded> out;
    std::ifstream file("tests/data/layer_values.txt");
    Recorded* current = nullptr;
    for (std::string line; std::getline(file, line);) {
      std::istringstream in(line);
      std::string key, value;
      in >> key;
      if (key == "case") {
        in >> value;
        current = &out[value];
      } else {
        (*current)[key] = read_tensor(in);
      }
    }
    return out;
  }());
  const auto found = cases.find(name);
  ARGAND_CHECK(ValueError, found != cases.end(), "tests/data/layer_values.txt has no case ", name);
  return found->second;
}

// Every recorded tensor whose key starts with `prefix` has its like among `got`, and the other way round.
inline void expect_recorded(const Recorded& want, const std::string& prefix, const Recorded& got, double tolerance) {
  for (const auto& [key, t] : want)
    if (key.rfind(prefix, 0) == 0) {
      EXPECT_EQ(got.count(key), 1u) << key;
    }
  for (const auto& [key, t] : got) {
    SCOPED_TRACE(key);
    const auto found = want.find(key);
    ASSERT_NE(found, want.end());
    EXPECT_EQ(t.sizes(), found->second.sizes());
    const Tensor dense = found->second.to(kDouble).contiguous();
    const double* p = dense.data_ptr<double>();
    expect_values("values", t, std::vector<double>(p, p + dense.numel()), tolerance);
  }
}

// Makes the layer after manual_seed(1), compares its parameters, calls it in float64 with the recorded inputs, and
// compares what call(layer, inputs) gives and the gradients.
template <class Make, class Call>
void expect_as_recorded(const std::string& name, Make make, Call call) {
  SCOPED_TRACE(name);
  const Recorded& want = recorded(name);
  manual_seed(1);
  auto layer = make();
  Recorded start, inputs, outputs, grads;
  for (const auto& p : layer->named_parameters()) start["param." + p.key()] = p.value();
  expect_recorded(want, "param.", start, 1e-6);
  layer->to(kDouble);
  for (const auto& [key, t] : want)
    if (key.rfind("in.", 0) == 0) inputs[key.substr(3)] = t.is_floating_point() ? t.clone().requires_grad_() : t;
  manual_seed(2);
  const std::vector<Tensor> out = call(layer, inputs);
  Tensor loss = zeros({}, kDouble);
  for (size_t i = 0; i < out.size(); ++i) {
    outputs["out." + std::to_string(i)] = out[i];
    if (out[i].requires_grad()) loss = loss + (out[i] * pattern(out[i].sizes(), 3, 5, 1, 0.5)).sum();
  }
  expect_recorded(want, "out.", outputs, 1e-12);
  loss.backward();
  for (const auto& p : layer->named_parameters())
    if (p.value().grad().defined()) grads["grad.param." + p.key()] = p.value().grad();
  for (const auto& [key, t] : inputs)
    if (t.grad().defined()) grads["grad.in." + key] = t.grad();
  expect_recorded(want, "grad.", grads, 1e-12);
}

}  // namespace argand::nn
