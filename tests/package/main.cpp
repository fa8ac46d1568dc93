// A user's program: it knows only the installed headers and the library.  Something of each part, so that a header that
// argand.h forgets, or that is not installed, fails here.
#include <argand/argand.h>

#include <iostream>
#include <sstream>

namespace {

struct Square : argand::autograd::Function<Square> {
  static argand::Tensor forward(argand::autograd::AutogradContext* ctx, const argand::Tensor& x) {
    ctx->save_for_backward({x});
    return x * x;
  }
  static argand::autograd::variable_list backward(argand::autograd::AutogradContext* ctx,
                                                  argand::autograd::variable_list grads) {
    return {grads[0] * 2 * ctx->get_saved_variables()[0]};
  }
};

bool expect(bool condition, const char* what) {
  if (!condition) std::cout << "consumer: wrong: " << what << '\n';
  return condition;
}

bool works() {
  using argand::indexing::Slice;
  const argand::Tensor x = argand::tensor({{1.F, 2.F}, {3.F, 4.F}}, argand::requires_grad());
  Square::apply(x).sum().backward();
  std::ostringstream streamed;
  streamed << x.index({Slice(), 0});

  argand::nn::Sequential model(argand::nn::Linear(2, 3), argand::nn::ReLU());
  const argand::optim::SGD optimizer(model->parameters(), argand::optim::SGDOptions(0.1));
  const auto set = std::make_shared<argand::data::TensorDataset>(argand::ones({5, 2}));
  int64_t seen = 0;
  for (const auto& batch : argand::data::DataLoader(set, 2)) seen += model(batch.data).size(0);
  argand::io::save_safetensors("consumer.safetensors", model->state_dict());

  return expect(argand::to_string(x.grad()) == "tensor([[2., 4.],\n        [6., 8.]])", "gradient") &&
         expect(streamed.str() == " 1\n 3\n[ CPUFloatType{2} ]", "stream") &&
         expect(optimizer.size() == 2, "parameters") && expect(seen == 5, "batches") &&
         expect(argand::io::load_safetensors("consumer.safetensors").tensors.size() == 2, "saved tensors") &&
         expect(argand::vision::Image(2, 2, 1).pixels.size() == 4, "image");
}

}  // namespace

int main() {
  if (!works()) return 1;
  std::cout << "consumer: the installed library works\n";
}
