// A recurrent network written by hand learns the next letter of a text, and writes some of its own.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>
#include <set>
#include <string>
#include <tuple>

namespace {

const std::string kText =
    "an argand lamp burns with a round wick, so that air flows inside and outside of the flame. its light is that of "
    "ten candles. the glass chimney came later, by chance, and made the flame steady. before it people read by the "
    "light of the fire; after it they read at night. ";

std::string letters_of(const std::string& text) {
  const std::set<char> all(text.begin(), text.end());
  return std::string(all.begin(), all.end());
}
const std::string kLetters = letters_of(kText);

int64_t index_of(char letter) { return static_cast<int64_t>(kLetters.find(letter)); }

torch::Tensor one_hot(char letter) {
  torch::Tensor out = torch::zeros({1, static_cast<int64_t>(kLetters.size())});
  out[0][index_of(letter)] = 1;
  return out;
}

struct RNNImpl : torch::nn::Module {
  RNNImpl(int64_t input_size, int64_t hidden_size, int64_t output_size)
      : hidden_size(hidden_size),
        i2h(register_module("i2h", torch::nn::Linear(input_size + hidden_size, hidden_size))),
        i2o(register_module("i2o", torch::nn::Linear(input_size + hidden_size, output_size))),
        softmax(register_module("softmax", torch::nn::LogSoftmax(/*dim=*/1))) {}

  std::tuple<torch::Tensor, torch::Tensor> forward(const torch::Tensor& letter, const torch::Tensor& hidden) {
    const torch::Tensor combined = torch::cat({letter, hidden}, 1);
    return {softmax(i2o(combined)), torch::tanh(i2h(combined))};
  }

  torch::Tensor initHidden() const { return torch::zeros({1, hidden_size}); }

  int64_t hidden_size;
  torch::nn::Linear i2h, i2o;
  torch::nn::LogSoftmax softmax;
};
TORCH_MODULE(RNN);

}  // namespace

int main() {
  torch::manual_seed(0);
  const auto symbols = static_cast<int64_t>(kLetters.size());
  RNN rnn(symbols, 64, symbols);
  std::cout << rnn << '\n' << std::fixed << std::setprecision(2);
  torch::nn::NLLLoss criterion;
  torch::optim::Adam optimizer(rnn->parameters(), torch::optim::AdamOptions(0.01));
  constexpr int64_t kLength = 24;
  for (int step = 1; step <= 120; ++step) {
    const auto start =
        torch::randint(static_cast<int64_t>(kText.size()) - kLength - 1, {1}, torch::kLong).item<int64_t>();
    const std::string piece = kText.substr(static_cast<size_t>(start), kLength + 1);
    torch::Tensor hidden = rnn->initHidden(), loss = torch::zeros({});
    rnn->zero_grad();
    for (size_t i = 0; i < kLength; ++i) {
      torch::Tensor output;
      std::tie(output, hidden) = rnn(one_hot(piece[i]), hidden);
      loss = loss + criterion(output, torch::tensor({index_of(piece[i + 1])}));
    }
    loss.backward();
    optimizer.step();
    if (step % 30 == 0) std::cout << "step " << step << "  loss per letter " << loss.item<double>() / kLength << '\n';
  }

  torch::NoGradGuard no_grad;
  torch::Tensor hidden = rnn->initHidden(), output;
  std::string written = "t";
  for (int i = 0; i < 40; ++i) {
    std::tie(output, hidden) = rnn(one_hot(written.back()), hidden);
    written += kLetters[static_cast<size_t>(std::get<1>(output.topk(1))[0][0].item<int64_t>())];
  }
  std::cout << "written: " << written << '\n';
}
