#include "argand/nn/parallel/data_parallel.h"

#include <exception>
#include <thread>

#include "argand/exec/cuda.h"
#include "argand/exec/graph.h"
#include "argand/ops/functions.h"

namespace argand::nn::parallel::detail {

namespace {

// From a replica's parameter to the original.
class ToOriginal final : public autograd::Node {
 public:
  explicit ToOriginal(const Tensor& original) : device_(original.device()) {
    next_edges().push_back(gradient_edge(original));
  }
  std::string name() const override { return "ReplicateBackward"; }
  Grads apply(Grads grads) override {
    Grads out(1);
    if (grads[0].defined()) out[0] = grads[0].to(device_);
    return out;
  }

 private:
  Device device_;
};

}  // namespace

void run_each(size_t n, const std::function<void(size_t)>& f) {
  const bool grad = GradMode::is_enabled();
  std::vector<std::exception_ptr> errors(n);
  std::vector<std::thread> threads;
  threads.reserve(n);
  for (size_t i = 0; i < n; ++i)
    threads.emplace_back([&, i] {
      const AutoGradMode mode(grad);
      try {
        f(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    });
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& e : errors)
    if (e) std::rethrow_exception(e);
}

void run_on(const Device& device, const std::function<void()>& f) {
  if (!device.is_cuda()) return f();
  const cuda::DeviceGuard guard(device);
  f();
}

void link_parameters(const Module& original, const Module& replica) {
  const std::vector<Tensor> from = replica.parameters(), to = original.parameters();
  if (!GradMode::is_enabled()) return;
  for (size_t i = 0; i < from.size(); ++i) {
    if (!to[i].defined() || !to[i].requires_grad()) continue;
    const intrusive_ptr<autograd::Node> node(new ToOriginal(to[i]));
    AutogradMeta& meta = autograd_meta(from[i]);
    meta.requires_grad = false;  // no leaf any more
    meta.grad_fn = node;
    meta.output_nr = node->add_input(from[i]);
  }
}

std::vector<Tensor> scatter(const Tensor& input, const std::vector<Device>& devices, int64_t dim) {
  std::vector<Tensor> pieces = input.chunk(static_cast<int64_t>(devices.size()), dim);
  for (size_t i = 0; i < pieces.size(); ++i) pieces[i] = pieces[i].to(devices[i]);
  return pieces;
}

Tensor gather(const std::vector<Tensor>& outputs, const Device& device, int64_t dim) {
  std::vector<Tensor> here;
  for (const Tensor& t : outputs) here.push_back(t.to(device));
  return cat(here, dim);
}

std::vector<Device> all_gpus() {
  std::vector<Device> out;
  for (int i = 0; i < cuda::device_count(); ++i) out.emplace_back(kCUDA, static_cast<DeviceIndex>(i));
  return out;
}

}  // namespace argand::nn::parallel::detail
