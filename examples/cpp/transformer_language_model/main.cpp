// A language model of words: a Transformer's encoder with a causal mask learns which word follows in counting rhymes.
#include <torch/torch.h>

#include <cmath>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

const std::string kText =
    "one lamp two lamps three lamps four and the keeper shuts the door . "
    "five lamps six lamps seven lamps eight and the keeper opens the gate . "
    "nine lamps ten lamps all in a row and the keeper says now go . ";

// Sines and cosines of the position, as many as the model is wide.
torch::Tensor positions(int64_t length, int64_t width) {
  const torch::Tensor at = torch::arange(length, torch::kFloat).unsqueeze(1);
  const torch::Tensor rate =
      torch::exp(torch::arange(0, width, 2, torch::kFloat) * (-std::log(1e4) / static_cast<double>(width)));
  return torch::stack({torch::sin(at * rate), torch::cos(at * rate)}, -1).view({length, 1, width});
}

// Nobody looks at what comes later.
torch::Tensor causal_mask(int64_t length) { return torch::triu(torch::full({length, length}, -INFINITY), 1); }

struct ModelImpl : torch::nn::Module {
  ModelImpl(int64_t words, int64_t width)
      : scale(std::sqrt(static_cast<double>(width))),
        embed(register_module("embed", torch::nn::Embedding(words, width))),
        encoder(register_module(
            "encoder",
            torch::nn::TransformerEncoder(torch::nn::TransformerEncoderOptions(
                torch::nn::TransformerEncoderLayerOptions(width, 4).dim_feedforward(64).dropout(0.0).activation(
                    torch::kGELU),
                2)))),
        next(register_module("next", torch::nn::Linear(width, words))) {}

  // The scores of the word after each of x [length, batch].
  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor embedded = embed(x) * scale + positions(x.size(0), embed->options.embedding_dim());
    return next(encoder(embedded, causal_mask(x.size(0))));
  }

  double scale;
  torch::nn::Embedding embed;
  torch::nn::TransformerEncoder encoder;
  torch::nn::Linear next;
};
TORCH_MODULE(Model);

}  // namespace

int main() {
  torch::manual_seed(3);
  std::vector<std::string> words;
  std::map<std::string, int64_t> code_of;
  std::vector<int64_t> codes;
  std::istringstream in(kText);
  for (std::string word; in >> word;) {
    const auto found = code_of.emplace(word, static_cast<int64_t>(words.size()));
    if (found.second) words.push_back(word);
    codes.push_back(found.first->second);
  }
  const torch::Tensor text = torch::tensor(codes);
  constexpr int64_t kLength = 12;
  const torch::Tensor windows = text.unfold(0, kLength + 1, 1).t();  // [length + 1, batch]

  Model model(static_cast<int64_t>(words.size()), 32);
  std::cout << windows.size(1) << " windows of " << words.size() << " words\n" << std::fixed << std::setprecision(3);
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(3e-3).weight_decay(1e-2));
  for (int step = 1; step <= 40; ++step) {
    const torch::Tensor scores = model(windows.slice(0, 0, kLength));
    const torch::Tensor loss =
        torch::nn::functional::cross_entropy(scores.reshape({-1, scores.size(2)}), windows.slice(0, 1).reshape({-1}));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 10 == 0) std::cout << "step " << step << ": loss " << loss.item<double>() << '\n';
  }

  torch::NoGradGuard no_grad;
  model->eval();
  torch::Tensor written = text.slice(0, 0, 2).unsqueeze(1);
  while (written.size(0) < kLength) {
    const torch::Tensor scores = model(written);
    written = torch::cat({written, scores[-1].argmax(-1, /*keepdim=*/true)});
  }
  for (int64_t i = 0; i < written.size(0); ++i)
    std::cout << words[static_cast<size_t>(written[i][0].item<int64_t>())] << ' ';
  std::cout << '\n';
}
