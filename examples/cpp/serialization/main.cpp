// Tensors, a model and its optimizer into files and streams and back; training goes on as if nothing had happened.
#include <torch/torch.h>

#include <cstdio>
#include <iomanip>
#include <iostream>
#include <sstream>

struct NetImpl : torch::nn::Module {
  explicit NetImpl(int64_t width) : first(register_module("first", torch::nn::Linear(4, width))), last(nullptr) {
    norm = register_module("norm", torch::nn::BatchNorm1d(width));
    last = register_module("last", torch::nn::Linear(torch::nn::LinearOptions(width, 2).bias(false)));
    scale = register_parameter("scale", torch::full({2}, 0.5));
  }
  torch::Tensor forward(torch::Tensor x) { return last(torch::tanh(norm(first(x)))) * scale; }

  torch::nn::Linear first, last;
  torch::nn::BatchNorm1d norm{nullptr};
  torch::Tensor scale;
};
TORCH_MODULE(Net);

double train(Net& net, torch::optim::Optimizer& optimizer, const torch::Tensor& x, const torch::Tensor& y, int steps) {
  torch::Tensor loss;
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    loss = torch::nn::functional::smooth_l1_loss(net(x), y);
    loss.backward();
    optimizer.step();
  }
  return loss.item<double>();
}

int main() {
  torch::manual_seed(11);
  std::cout << std::fixed << std::setprecision(4);

  std::vector<torch::Tensor> several = {torch::arange(6).view({2, 3}), torch::rand({2}), torch::tensor({true, false})};
  std::stringstream stream;
  torch::save(several, stream);
  std::vector<torch::Tensor> again;
  torch::load(again, stream);
  for (const auto& tensor : again) std::cout << tensor << '\n';

  const torch::Tensor x = torch::randn({32, 4}), y = torch::randn({32, 2});
  Net net(8);
  torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(0.01));
  std::cout << net << '\n' << "after 20 steps: " << train(net, adam, x, y, 20) << '\n';
  torch::save(net, "net.pt");
  torch::save(adam, "adam.pt");
  std::cout << "after 20 more:  " << train(net, adam, x, y, 20) << '\n';

  Net copy(8);
  torch::load(copy, "net.pt");
  torch::optim::Adam resumed(copy->parameters(), torch::optim::AdamOptions(0.5));
  torch::load(resumed, "adam.pt");
  std::cout << "resumed:        " << train(copy, resumed, x, y, 20) << '\n';
  for (const auto& item : copy->named_parameters())
    std::cout << item.key() << ' ' << item.value().sizes() << ' '
              << torch::equal(item.value(), net->named_parameters()[item.key()]) << '\n';
  for (const auto& item : copy->named_buffers()) std::cout << item.key() << ' ' << item.value().sizes() << '\n';

  torch::serialize::OutputArchive out;
  out.write("weights", x);
  out.write("epoch", torch::IValue(int64_t(12)));
  out.save_to("run.pt");
  torch::serialize::InputArchive in;
  in.load_from("run.pt");
  torch::Tensor weights;
  torch::IValue epoch;
  in.read("weights", weights);
  in.read("epoch", epoch);
  std::cout << "epoch " << epoch.toInt() << ", weights " << weights.sizes() << ' ' << torch::equal(weights, x) << '\n';
  for (const char* file : {"net.pt", "adam.pt", "run.pt"}) std::remove(file);
}
