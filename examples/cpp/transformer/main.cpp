// An encoder and a decoder, their halves written out, learn to write dates in another form: "3 may 21" as "2021-05-03".
#include <torch/torch.h>

#include <cmath>
#include <iomanip>
#include <iostream>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace {

const std::vector<std::string> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                          "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr int64_t kPad = 0, kStart = 1, kEnd = 2;

std::string symbols_of_dates() {
  std::set<char> all;
  for (const char c : std::string("0123456789- ")) all.insert(c);
  for (const std::string& month : kMonths) all.insert(month.begin(), month.end());
  return "_<>" + std::string(all.begin(), all.end());  // padding, start and end first
}
const std::string kSymbols = symbols_of_dates();

int64_t index_of(char c) { return static_cast<int64_t>(kSymbols.find(c, 3)); }

std::string two_digits(int64_t n) {
  std::ostringstream out;
  out << std::setw(2) << std::setfill('0') << n;
  return out.str();
}

struct Dates {
  std::vector<std::string> sources, targets;
  torch::Tensor source, target;  // [count, 9] and [count, 12]
};

Dates dates(int64_t count) {
  Dates d;
  const torch::Tensor days = torch::randint(1, 29, {count}, torch::kLong);
  const torch::Tensor months = torch::randint(0, 12, {count}, torch::kLong);
  const torch::Tensor years = torch::randint(0, 100, {count}, torch::kLong);
  d.source = torch::full({count, 9}, kPad, torch::kLong);
  d.target = torch::full({count, 12}, kPad, torch::kLong);
  for (int64_t row = 0; row < count; ++row) {
    const auto day = days[row].item<int64_t>(), month = months[row].item<int64_t>(), year = years[row].item<int64_t>();
    d.sources.push_back(std::to_string(day) + " " + kMonths[static_cast<size_t>(month)] + " " + two_digits(year));
    d.targets.push_back("20" + two_digits(year) + "-" + two_digits(month + 1) + "-" + two_digits(day));
    int64_t at = 0;
    for (const char c : d.sources.back()) d.source[row][at++] = index_of(c);
    at = 0;
    d.target[row][at++] = kStart;
    for (const char c : d.targets.back()) d.target[row][at++] = index_of(c);
    d.target[row][at] = kEnd;
  }
  return d;
}

struct AttentionImpl : torch::nn::Module {
  AttentionImpl(int64_t width, int64_t heads)
      : heads(heads),
        query(register_module("query", torch::nn::Linear(width, width))),
        key(register_module("key", torch::nn::Linear(width, width))),
        value(register_module("value", torch::nn::Linear(width, width))),
        out(register_module("out", torch::nn::Linear(width, width))) {}

  torch::Tensor split(const torch::Tensor& t) const {
    return t.view({t.size(0), t.size(1), heads, -1}).transpose(1, 2);
  }
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& memory, const torch::Tensor& mask) {
    const torch::Tensor q = split(query(x)), k = split(key(memory)), v = split(value(memory));
    torch::Tensor scores = q.matmul(k.transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(-1)));
    scores = scores.masked_fill(mask.logical_not(), -std::numeric_limits<double>::infinity());
    return out(torch::softmax(scores, -1).matmul(v).transpose(1, 2).contiguous().view(x.sizes()));
  }

  int64_t heads;
  torch::nn::Linear query, key, value, out;
};
TORCH_MODULE(Attention);

// A layer of the encoder, or of the decoder, which also attends to the encoder's output.
struct LayerImpl : torch::nn::Module {
  LayerImpl(int64_t width, int64_t heads, bool decodes)
      : own(register_module("own", Attention(width, heads))),
        feed(register_module("feed", torch::nn::Sequential(torch::nn::Linear(width, 4 * width), torch::nn::ReLU(),
                                                           torch::nn::Linear(4 * width, width)))),
        own_norm(register_module("own_norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})))),
        feed_norm(register_module("feed_norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})))) {
    if (!decodes) return;
    other = register_module("other", Attention(width, heads));
    other_norm = register_module("other_norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
  }

  torch::Tensor forward(torch::Tensor x, const torch::Tensor& own_mask, const torch::Tensor& memory = {},
                        const torch::Tensor& memory_mask = {}) {
    const torch::Tensor normed = own_norm(x);
    x = x + own(normed, normed, own_mask);
    if (!other.is_empty()) x = x + other(other_norm(x), memory, memory_mask);
    return x + feed->forward(feed_norm(x));
  }

  Attention own, other{nullptr};
  torch::nn::Sequential feed;
  torch::nn::LayerNorm own_norm, feed_norm, other_norm{nullptr};
};
TORCH_MODULE(Layer);

torch::Tensor sines(int64_t length, int64_t width) {
  const torch::Tensor at = torch::arange(length, torch::kFloat).unsqueeze(1);
  const torch::Tensor rate =
      torch::exp(torch::arange(0, width, 2, torch::kFloat) * (-std::log(1e4) / static_cast<double>(width)));
  return torch::stack({torch::sin(at * rate), torch::cos(at * rate)}, -1).view({length, width});
}

struct TransformerImpl : torch::nn::Module {
  explicit TransformerImpl(int64_t width = 48, int64_t heads = 4, int64_t layers = 2)
      : embed(register_module(
            "embed", torch::nn::Embedding(
                         torch::nn::EmbeddingOptions(static_cast<int64_t>(kSymbols.size()), width).padding_idx(kPad)))),
        positions(register_buffer("positions", sines(64, width))),
        norm(register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})))),
        out(register_module("out", torch::nn::Linear(width, static_cast<int64_t>(kSymbols.size())))) {
    register_module("encoder", encoder);
    register_module("decoder", decoder);
    for (int64_t i = 0; i < layers; ++i) {
      encoder->push_back(Layer(width, heads, false));
      decoder->push_back(Layer(width, heads, true));
    }
  }

  torch::Tensor embedded(const torch::Tensor& tokens) { return embed(tokens) + positions.slice(0, 0, tokens.size(1)); }

  // The memory, and where it may be looked at.
  std::tuple<torch::Tensor, torch::Tensor> encode(const torch::Tensor& source) {
    const torch::Tensor mask = source.ne(kPad).unsqueeze(1).unsqueeze(1);
    torch::Tensor x = embedded(source);
    for (const auto& layer : *encoder) x = layer->as<Layer>()->forward(x, mask);
    return {x, mask};
  }
  torch::Tensor decode(const torch::Tensor& target, const torch::Tensor& memory, const torch::Tensor& memory_mask) {
    const torch::Tensor mask =
        torch::ones({target.size(1), target.size(1)}, target.options().dtype(torch::kBool)).tril();
    torch::Tensor x = embedded(target);
    for (const auto& layer : *decoder) x = layer->as<Layer>()->forward(x, mask, memory, memory_mask);
    return out(norm(x));
  }
  torch::Tensor forward(const torch::Tensor& source, const torch::Tensor& target) {
    const auto [memory, mask] = encode(source);
    return decode(target, memory, mask);
  }

  torch::nn::Embedding embed;
  torch::Tensor positions;
  torch::nn::ModuleList encoder, decoder;
  torch::nn::LayerNorm norm;
  torch::nn::Linear out;
};
TORCH_MODULE(Transformer);

}  // namespace

int main() {
  torch::manual_seed(0);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Transformer model;
  model->to(device);
  int64_t parameters = 0;
  for (const torch::Tensor& p : model->parameters()) parameters += p.numel();
  std::cout << "parameters: " << parameters << '\n' << std::fixed << std::setprecision(2);
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(2e-3));
  const auto symbols = static_cast<int64_t>(kSymbols.size());
  for (int step = 1; step <= 160; ++step) {
    const Dates batch = dates(64);
    const torch::Tensor target = batch.target.to(device);
    const torch::Tensor logits = model(batch.source.to(device), target.slice(1, 0, -1));
    const torch::Tensor loss =
        torch::nn::functional::cross_entropy(logits.reshape({-1, symbols}), target.slice(1, 1).reshape({-1}),
                                             torch::nn::functional::CrossEntropyFuncOptions().ignore_index(kPad));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step <= 40 && step % 20 == 0) std::cout << "step " << step << "  loss " << loss.item<double>() << '\n';
  }

  torch::NoGradGuard no_grad;
  model->eval();
  const Dates asked = dates(100);
  const auto [memory, mask] = model->encode(asked.source.to(device));
  torch::Tensor written = torch::full({100, 1}, kStart, torch::TensorOptions(torch::kLong).device(device));
  for (int i = 0; i < 11; ++i)
    written = torch::cat({written, model->decode(written, memory, mask).select(1, -1).argmax(-1, /*keepdim=*/true)}, 1);
  written = written.cpu();
  int right = 0;
  std::string first;
  for (int64_t row = 0; row < 100; ++row) {
    std::string text;
    for (int64_t i = 0; i < written.size(1); ++i)
      if (const auto symbol = written[row][i].item<int64_t>(); symbol > kEnd)
        text += kSymbols[static_cast<size_t>(symbol)];
    if (row == 0) first = text;
    right += text == asked.targets[static_cast<size_t>(row)];
  }
  std::cout << "right: " << right << " of 100, as '" << asked.sources[0] << "' -> '" << first << "'\n";
}
