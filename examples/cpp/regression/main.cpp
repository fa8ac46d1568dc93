// Two regressions: a line through noisy points with a linear layer, and a cubic polynomial by hand-written descent.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

namespace {

void fit_line() {
  const torch::Tensor x = torch::linspace(-1, 1, 64).unsqueeze(1);
  const torch::Tensor y = 3 * x - 0.5 + 0.1 * torch::randn_like(x);

  torch::nn::Linear line(1, 1);
  torch::optim::SGD optimizer(line->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  for (int step = 1; step <= 60; ++step) {
    optimizer.zero_grad();
    const torch::Tensor loss = torch::mse_loss(line(x), y);
    loss.backward();
    optimizer.step();
    if (step % 20 == 0) std::cout << "line, step " << step << ": loss " << loss.item<double>() << '\n';
  }
  std::cout << "y = " << line->weight.item<double>() << " x + " << line->bias.item<double>() << '\n';
}

void fit_polynomial() {
  const torch::Tensor x = torch::linspace(-2, 2, 128, torch::kDouble);
  const torch::Tensor y = torch::sin(x) + torch::cos(x);
  const torch::Tensor powers = torch::stack({torch::ones_like(x), x, x.pow(2), x.pow(3)}, 1);
  torch::Tensor coefficients = torch::randn({4}, torch::dtype(torch::kDouble).requires_grad(true));

  for (int step = 1; step <= 400; ++step) {
    const torch::Tensor loss = (powers.matmul(coefficients) - y).pow(2).mean();
    loss.backward();
    {
      torch::NoGradGuard no_grad;
      coefficients -= 0.03 * coefficients.grad();
      coefficients.mutable_grad().zero_();
    }
    if (step % 100 == 0) std::cout << "cubic, step " << step << ": loss " << loss.item<double>() << '\n';
  }
  std::cout << coefficients.detach() << '\n';
}

}  // namespace

int main() {
  torch::manual_seed(7);
  std::cout << std::fixed << std::setprecision(4);
  fit_line();
  fit_polynomial();
}
