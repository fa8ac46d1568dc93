// A language model of characters: an LSTM reads a rhyme in stretches, carrying its state on, and then writes by itself.
#include <torch/torch.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <string>
#include <tuple>
#include <vector>

namespace {

const std::string kText =
    "the lamp was lit, the room was still, the wind went over dale and hill. "
    "a moth came in, it saw the light, it turned and turned the whole long night. "
    "the oil burned low, the flame burned blue, the moth sat down, the wind went through. "
    "the day came up on dale and hill, the lamp was out, the room was still. ";
constexpr int64_t kRows = 4, kSteps = 16;

using State = std::tuple<torch::Tensor, torch::Tensor>;

struct ModelImpl : torch::nn::Module {
  explicit ModelImpl(int64_t characters, int64_t width = 32)
      : embed(register_module("embed", torch::nn::Embedding(characters, width))),
        lstm(register_module(
            "lstm", torch::nn::LSTM(torch::nn::LSTMOptions(width, 2 * width).num_layers(2).batch_first(true)))),
        next(register_module("next", torch::nn::Linear(2 * width, characters))) {}

  // The scores of what comes after each character of x [rows, steps], and the state behind the last.
  std::tuple<torch::Tensor, State> forward(const torch::Tensor& x, const torch::optional<State>& before) {
    const auto [out, state] = lstm(embed(x), before);
    return std::make_tuple(next(out), state);
  }

  torch::nn::Embedding embed;
  torch::nn::LSTM lstm;
  torch::nn::Linear next;
};
TORCH_MODULE(Model);

State detached(const State& state) { return {std::get<0>(state).detach(), std::get<1>(state).detach()}; }

}  // namespace

int main() {
  torch::manual_seed(11);
  std::string alphabet = kText;
  std::sort(alphabet.begin(), alphabet.end());
  alphabet.erase(std::unique(alphabet.begin(), alphabet.end()), alphabet.end());
  std::vector<int64_t> codes;
  for (const char c : kText) codes.push_back(static_cast<int64_t>(alphabet.find(c)));

  // The text in rows that are read side by side.
  const auto length = static_cast<int64_t>(codes.size()) / kRows;
  const torch::Tensor text = torch::tensor(codes).slice(0, 0, kRows * length).view({kRows, length});

  Model model(static_cast<int64_t>(alphabet.size()));
  std::cout << model << '\n' << std::fixed << std::setprecision(3);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(5e-3));
  for (int epoch = 1; epoch <= 12; ++epoch) {
    torch::optional<State> state;
    double sum = 0;
    int count = 0;
    for (int64_t at = 0; at + kSteps < length; at += kSteps, ++count) {
      const auto [scores, after] = model(text.slice(1, at, at + kSteps), state);
      const torch::Tensor loss = torch::nn::functional::cross_entropy(
          scores.reshape({-1, scores.size(2)}), text.slice(1, at + 1, at + kSteps + 1).reshape({-1}));
      optimizer.zero_grad();
      loss.backward();
      torch::nn::utils::clip_grad_norm_(model->parameters(), 1.0);
      optimizer.step();
      state = detached(after);
      sum += loss.item<double>();
    }
    if (epoch % 3 == 0) std::cout << "epoch " << epoch << ": loss " << sum / count << '\n';
  }

  torch::NoGradGuard no_grad;
  model->eval();
  torch::optional<State> state;
  torch::Tensor last = text.slice(1, 0, 1).slice(0, 0, 1);
  std::string written(1, alphabet[static_cast<size_t>(last.item<int64_t>())]);
  for (int i = 0; i < 40; ++i) {
    const auto [scores, after] = model(last, state);
    last = scores.argmax(-1);
    state = after;
    written += alphabet[static_cast<size_t>(last.item<int64_t>())];
  }
  std::cout << written << '\n';
}
