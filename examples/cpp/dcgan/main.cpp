// A generative adversarial network of convolutions: one network draws images, another tells them from real ones.
//   dcgan FOLDER [STEPS]          (FOLDER: a data set in MNIST's format)
#include <torch/torch.h>

#include <cstdlib>
#include <iomanip>
#include <iostream>

constexpr int64_t kNoise = 16;

struct GeneratorImpl : torch::nn::Module {
  explicit GeneratorImpl(int64_t noise)
      : conv1(torch::nn::ConvTranspose2dOptions(noise, 32, 4).bias(false)),
        norm1(32),
        conv2(torch::nn::ConvTranspose2dOptions(32, 16, 3).stride(2).padding(1).bias(false)),
        norm2(16),
        conv3(torch::nn::ConvTranspose2dOptions(16, 8, 4).stride(2).padding(1).bias(false)),
        norm3(8),
        conv4(torch::nn::ConvTranspose2dOptions(8, 1, 4).stride(2).padding(1).bias(false)) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("conv3", conv3);
    register_module("conv4", conv4);
    register_module("norm1", norm1);
    register_module("norm2", norm2);
    register_module("norm3", norm3);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(norm1(conv1(x)));
    x = torch::relu(norm2(conv2(x)));
    x = torch::relu(norm3(conv3(x)));
    return torch::tanh(conv4(x));
  }

  torch::nn::ConvTranspose2d conv1;
  torch::nn::BatchNorm2d norm1;
  torch::nn::ConvTranspose2d conv2;
  torch::nn::BatchNorm2d norm2;
  torch::nn::ConvTranspose2d conv3;
  torch::nn::BatchNorm2d norm3;
  torch::nn::ConvTranspose2d conv4;
};
TORCH_MODULE(Generator);

torch::nn::Sequential make_discriminator() {
  namespace nn = torch::nn;
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 8, 4).stride(2).padding(1).bias(false)),
                        nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
                        nn::Conv2d(nn::Conv2dOptions(8, 16, 4).stride(2).padding(1).bias(false)), nn::BatchNorm2d(16),
                        nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
                        nn::Conv2d(nn::Conv2dOptions(16, 32, 4).stride(2).padding(1).bias(false)), nn::BatchNorm2d(32),
                        nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
                        nn::Conv2d(nn::Conv2dOptions(32, 1, 3).bias(false)), nn::Sigmoid());
}

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: dcgan FOLDER [STEPS]\n";
    return 2;
  }
  const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
  torch::manual_seed(2);
  std::cout << std::fixed << std::setprecision(2);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  Generator generator(kNoise);
  torch::nn::Sequential discriminator = make_discriminator();
  generator->to(device);
  discriminator->to(device);
  std::cout << generator << '\n' << discriminator << '\n';

  auto images = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      torch::data::datasets::MNIST(argv[1])
          .map(torch::data::transforms::Normalize<>(0.5, 0.5))
          .map(torch::data::transforms::Stack<>()),
      torch::data::DataLoaderOptions().batch_size(16).workers(1).drop_last(true));
  torch::optim::Adam generator_optimizer(generator->parameters(),
                                         torch::optim::AdamOptions(2e-4).betas(std::make_tuple(0.5, 0.999)));
  torch::optim::Adam discriminator_optimizer(discriminator->parameters(),
                                             torch::optim::AdamOptions(5e-4).betas(std::make_tuple(0.5, 0.999)));

  for (int step = 1; step <= steps;) {
    for (auto& batch : *images) {
      if (step > steps) break;
      const torch::Tensor real = batch.data.to(device);
      discriminator->zero_grad();
      const torch::Tensor real_labels = torch::empty(real.size(0), device).uniform_(0.8, 1.0);
      const torch::Tensor real_loss =
          torch::binary_cross_entropy(discriminator->forward(real).reshape(real_labels.sizes()), real_labels);
      real_loss.backward();

      const torch::Tensor fake = generator->forward(torch::randn({real.size(0), kNoise, 1, 1}, device));
      const torch::Tensor fake_labels = torch::zeros(real.size(0), device);
      const torch::Tensor fake_loss =
          torch::binary_cross_entropy(discriminator->forward(fake.detach()).reshape(fake_labels.sizes()), fake_labels);
      fake_loss.backward();
      discriminator_optimizer.step();

      generator->zero_grad();
      const torch::Tensor wanted = torch::ones(real.size(0), device);
      const torch::Tensor generator_loss =
          torch::binary_cross_entropy(discriminator->forward(fake).reshape(wanted.sizes()), wanted);
      generator_loss.backward();
      generator_optimizer.step();
      if (step % 5 == 0)
        std::cout << "step " << step << ": discriminator " << (real_loss + fake_loss).item<float>() << ", generator "
                  << generator_loss.item<float>() << '\n';
      ++step;
    }
  }
  torch::NoGradGuard no_grad;
  std::cout << generator->forward(torch::randn({2, kNoise, 1, 1}, device)).sizes() << '\n';
}
