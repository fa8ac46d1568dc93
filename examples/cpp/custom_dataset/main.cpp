// A data set of one's own: points on two spirals, told apart by a small network that reads them through a loader.
#include <torch/torch.h>

#include <cmath>
#include <iomanip>
#include <iostream>

class Spirals : public torch::data::datasets::Dataset<Spirals> {
 public:
  explicit Spirals(size_t per_arm) : per_arm_(per_arm) {}

  torch::data::Example<> get(size_t index) override {
    const auto arm = static_cast<int64_t>(index / per_arm_);
    const double t = static_cast<double>(index % per_arm_) / static_cast<double>(per_arm_);
    const double angle = 4 * t + M_PI * static_cast<double>(arm), radius = 0.2 + t;
    return {torch::tensor({radius * std::cos(angle), radius * std::sin(angle)}, torch::kFloat),
            torch::tensor(arm, torch::kLong)};
  }
  torch::optional<size_t> size() const override { return 2 * per_arm_; }

 private:
  size_t per_arm_;
};

int main() {
  torch::manual_seed(5);
  std::cout << std::fixed << std::setprecision(3);

  auto train_set = Spirals(96)
                       .map(torch::data::transforms::TensorLambda<>([](torch::Tensor point) { return point / 1.2; }))
                       .map(torch::data::transforms::Stack<>());
  const size_t train_size = train_set.size().value();
  auto loader =
      torch::data::make_data_loader(std::move(train_set), torch::data::DataLoaderOptions().batch_size(32).workers(2));
  auto in_order = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Spirals(4).map(torch::data::transforms::Stack<>()), 3);
  for (auto& batch : *in_order) std::cout << batch.data.sizes() << ' ' << batch.target.sum().item<int64_t>() << '\n';

  torch::nn::Sequential net(torch::nn::Linear(2, 32), torch::nn::Tanh(), torch::nn::Linear(32, 32), torch::nn::Tanh(),
                            torch::nn::Linear(32, 2));
  std::cout << net << '\n';
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(1e-2));
  for (int epoch = 1; epoch <= 12; ++epoch) {
    double loss_sum = 0;
    int64_t right = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      const torch::Tensor scores = net->forward(batch.data);
      const torch::Tensor loss = torch::cross_entropy_loss(scores, batch.target);
      loss.backward();
      optimizer.step();
      loss_sum += loss.item<double>() * static_cast<double>(batch.data.size(0));
      right += scores.argmax(1).eq(batch.target).sum().item<int64_t>();
    }
    if (epoch % 4 == 0)
      std::cout << "epoch " << epoch << ": loss " << loss_sum / static_cast<double>(train_size) << ", right " << right
                << " of " << train_size << '\n';
  }
}
