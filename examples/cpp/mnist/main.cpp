// Digits (or clothes: any data set in MNIST's format) with a small convolutional network.
//   mnist FOLDER [EPOCHS] [BATCHES_PER_EPOCH]
#include <torch/torch.h>

#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>

struct Net : torch::nn::Module {
  Net()
      : conv1(torch::nn::Conv2dOptions(1, 8, 5)),
        conv2(torch::nn::Conv2dOptions(8, 16, 5)),
        fc1(16 * 4 * 4, 48),
        fc2(48, 10) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("drop", drop);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(torch::max_pool2d(conv1->forward(x), 2));
    x = torch::relu(torch::max_pool2d(drop->forward(conv2->forward(x)), 2));
    x = torch::relu(fc1->forward(x.flatten(1)));
    x = torch::dropout(x, /*p=*/0.25, /*train=*/is_training());
    return torch::log_softmax(fc2->forward(x), /*dim=*/1);
  }

  torch::nn::Conv2d conv1, conv2;
  torch::nn::Dropout2d drop{0.25};
  torch::nn::Linear fc1, fc2;
};

template <typename DataLoader>
void train(Net& model, const torch::Device& device, DataLoader& loader, torch::optim::Optimizer& optimizer, int epoch,
           int batches) {
  model.train();
  int batch_number = 0;
  for (auto& batch : loader) {
    auto data = batch.data.to(device), target = batch.target.to(device);
    optimizer.zero_grad();
    auto loss = torch::nll_loss(model.forward(data), target);
    TORCH_CHECK(std::isfinite(loss.template item<float>()), "the loss is ", loss.template item<float>());
    loss.backward();
    optimizer.step();
    if (batch_number++ % (batches / 4 + 1) == 0)
      std::cout << "epoch " << epoch << ", batch " << batch_number << ": loss " << loss.template item<float>() << '\n';
    if (batch_number == batches) break;
  }
}

template <typename DataLoader>
void test(Net& model, const torch::Device& device, DataLoader& loader, size_t size) {
  torch::NoGradGuard no_grad;
  model.eval();
  double loss = 0;
  int64_t correct = 0;
  for (const auto& batch : loader) {
    auto data = batch.data.to(device), target = batch.target.to(device);
    auto output = model.forward(data);
    loss += torch::nll_loss(output, target, /*weight=*/{}, torch::Reduction::Sum).template item<double>();
    correct += output.argmax(1).eq(target).sum().template item<int64_t>();
  }
  std::cout << "test: loss " << loss / static_cast<double>(size) << ", " << correct << " of " << size << " right\n";
}

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: mnist FOLDER [EPOCHS] [BATCHES_PER_EPOCH]\n";
    return 2;
  }
  const int epochs = argc > 2 ? std::atoi(argv[2]) : 2;
  const int batches = argc > 3 ? std::atoi(argv[3]) : 938;  // all of MNIST
  const size_t batch_size = 64;
  torch::manual_seed(1);
  std::cout << std::fixed << std::setprecision(3);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  using torch::data::datasets::MNIST;
  const auto images = [&](MNIST::Mode mode) {
    return MNIST(argv[1], mode)
        .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
        .map(torch::data::transforms::Stack<>());
  };
  auto train_set = images(MNIST::Mode::kTrain);
  auto test_set = images(MNIST::Mode::kTest);
  const size_t test_size = test_set.size().value();
  auto train_loader =
      torch::data::make_data_loader<torch::data::samplers::RandomSampler>(std::move(train_set), batch_size);
  auto test_loader = torch::data::make_data_loader(std::move(test_set), batch_size);

  Net model;
  model.to(device);
  std::cout << model << '\n';
  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.05).momentum(0.5));
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    train(model, device, *train_loader, optimizer, epoch, batches);
    test(model, device, *test_loader, test_size);
  }
}
