// An operation with a gradient of its own: a rounding that lets gradients pass, and a cube that saves what it needs.
#include <torch/torch.h>

#include <iostream>

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// Rounds to multiples of `step`; backward pretends that it did nothing inside [-limit, limit].
class StraightThroughRound : public torch::autograd::Function<StraightThroughRound> {
 public:
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x, double step, double limit) {
    ctx->saved_data["limit"] = limit;
    ctx->save_for_backward({x});
    return torch::round(x / step) * step;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) {
    const torch::Tensor x = ctx->get_saved_variables()[0];
    const double limit = ctx->saved_data["limit"].toDouble();
    return {grads[0] * (x.abs() <= limit).to(grads[0].dtype()), torch::Tensor(), torch::Tensor()};
  }
};

class Cube : public torch::autograd::Function<Cube> {
 public:
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x) {
    ctx->save_for_backward({x});
    return x * x * x;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) {
    const torch::Tensor x = ctx->get_saved_variables()[0];
    return {3 * x * x * grads[0]};
  }
};

int main() {
  torch::Tensor x = torch::tensor({-1.3, -0.26, 0.1, 0.74, 2.0}, torch::requires_grad());
  const torch::Tensor rounded = StraightThroughRound::apply(x, 0.5, 1.0);
  std::cout << rounded << '\n';
  (rounded * torch::arange(1, 6)).sum().backward();
  std::cout << x.grad() << '\n';

  // The gradient of a gradient.
  torch::Tensor y = torch::tensor({1., 2., 3.}, torch::requires_grad());
  const torch::Tensor first =
      torch::autograd::grad({Cube::apply(y).sum()}, {y}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
  std::cout << first << '\n';
  const torch::Tensor second = torch::autograd::grad({first.sum()}, {y})[0];
  std::cout << second << '\n';

  // Hooks see gradients on their way.
  torch::Tensor z = torch::ones({2}, torch::requires_grad());
  z.register_hook([](torch::Tensor grad) { return grad * 10; });
  (z * z).sum().backward();
  std::cout << z.grad() << '\n' << std::boolalpha << first.requires_grad() << ' ' << z.is_leaf() << '\n';
}
