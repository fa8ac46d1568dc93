// Devices: what is there, moving tensors, the same numbers on each; streams where there is a GPU.
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/torch.h>

#include <chrono>
#include <iostream>

int main() {
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  std::cout << std::boolalpha << "device: " << device.type()
            << ", GPUs: " << static_cast<int>(torch::cuda::device_count()) << '\n';

  const torch::Tensor a = torch::tensor({5.0, 3.0}, torch::TensorOptions().device(device));
  const torch::Tensor b = torch::tensor({5.0, 3.0});
  std::cout << "squares: " << torch::equal(a.pow(2).cpu(), b.pow(2)) << ' ' << b.pow(2) << '\n';
  std::cout << "moved: " << a.to(torch::kCPU).device() << ' ' << (a.cpu().to(device).device().type() == device.type())
            << ' ' << a.to(a.device()).is_same(a) << '\n';
  std::cout << "where: " << (a.is_cuda() == device.is_cuda()) << ' ' << static_cast<int>(b.get_device()) << '\n';

  torch::nn::Linear model(2, 3);
  model->to(device);
  const torch::Tensor out = model(a.to(torch::kFloat).to(device, /*non_blocking=*/true));
  std::cout << "model on it: " << (model->weight.device() == out.device()) << ' ' << out.sizes() << '\n';

  if (device.is_cuda()) {
    const c10::cuda::CUDAStream side = c10::cuda::getStreamFromPool();
    const auto start = std::chrono::steady_clock::now();
    torch::Tensor product;
    {
      const c10::cuda::CUDAStreamGuard guard(side);
      const torch::Tensor x = torch::randn({2048, 2048}, device);
      product = x.mm(x);
    }
    side.synchronize();  // what the side stream was given is done
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::cout << "on a stream of its own: " << product.sizes() << ' ' << (took.count() > 0) << '\n';
    torch::cuda::synchronize();
  }
}
