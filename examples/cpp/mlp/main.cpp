// A network of two layers learns a function of two numbers; gradients of several batches make one step.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>
#include <vector>

int main() {
  torch::manual_seed(0);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  torch::Tensor x = torch::rand({512, 2});
  const torch::Tensor y = (torch::sin(6 * x.slice(1, 0, 1)) * x.slice(1, 1)).to(device);
  x = x.to(device);

  torch::nn::Sequential model(torch::nn::Linear(2, 32), torch::nn::Tanh(), torch::nn::Linear(32, 1));
  model->to(device);
  std::cout << model << '\n' << std::fixed;
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(0.01));
  constexpr int64_t kAccumulate = 4;

  for (int epoch = 1; epoch <= 90; ++epoch) {
    optimizer.zero_grad();
    const std::vector<torch::Tensor> parts_x = x.chunk(kAccumulate), parts_y = y.chunk(kAccumulate);
    for (size_t i = 0; i < parts_x.size(); ++i) {
      const torch::Tensor loss = torch::mse_loss(model->forward(parts_x[i]), parts_y[i]) / kAccumulate;
      loss.backward();  // adds to the gradients that are there
    }
    torch::nn::utils::clip_grad_norm_(model->parameters(), 1.0);
    optimizer.step();
    if (epoch % 30 != 0) continue;
    torch::NoGradGuard no_grad;
    std::cout << "epoch " << epoch << "  loss " << std::setprecision(4)
              << torch::mse_loss(model->forward(x), y).item<double>() << '\n';
  }
}
