// Loads a TorchScript archive, as the public tutorial "Loading a TorchScript Model in C++" describes it, and runs it on
// an image of ones:  torchscript model.pt [height width]
#include <torch/script.h>

#include <iostream>
#include <string>

int main(int argc, const char* argv[]) {
  if (argc != 2 && argc != 4) {
    std::cerr << "usage: torchscript MODEL.pt [HEIGHT WIDTH]\n";
    return 2;
  }
  torch::jit::script::Module module;
  try {
    module = torch::jit::load(argv[1]);
  } catch (const c10::Error& e) {
    std::cerr << "error loading the model: " << e.what() << '\n';
    return 1;
  }
  module.eval();
  int64_t numbers = 0;
  for (const auto& parameter : module.named_parameters()) numbers += parameter.value.numel();
  std::cout << module.type()->name()->name() << " has " << numbers << " numbers in its parameters\n";

  const int64_t height = argc == 4 ? std::stoll(argv[2]) : 224, width = argc == 4 ? std::stoll(argv[3]) : 224;
  std::vector<torch::jit::IValue> inputs;
  inputs.push_back(torch::ones({1, 3, height, width}));
  try {
    const torch::NoGradGuard no_grad;
    const at::Tensor output = module.forward(inputs).toTensor();
    std::cout << output.slice(/*dim=*/1, /*start=*/0, /*end=*/5) << '\n';
  } catch (const c10::Error& e) {
    std::cerr << "error running the model: " << e.what() << '\n';
    return 1;
  }
}
