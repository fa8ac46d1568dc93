#include "argand/parallel/data_parallel.h"

#include <exception>
#include <thread>

#include "argand/exec/thread_state.h"
#include "argand/ops/functions.h"

namespace argand::parallel::detail {

void run_each(size_t n, const std::function<void(size_t)>& f) {
  const exec::ThreadState caller;
  std::vector<std::exception_ptr> errors(n);
  std::vector<std::jthread> threads;
  threads.reserve(n);
  for (size_t i = 0; i < n; ++i)
    threads.emplace_back([&, i] {
      try {
        const exec::ThreadState::Scope as_caller(caller);
        f(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    });
  threads.clear();  // joins them
  for (const std::exception_ptr& e : errors)
    if (e) std::rethrow_exception(e);
}

void run_on(const Device& device, const std::function<void()>& f) {
  const DeviceScope here(device);
  f();
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
  Backend* const backend = find_accelerator();
  for (int i = 0; backend && i < backend->device_count(); ++i)
    out.emplace_back(accelerator_type(), static_cast<DeviceIndex>(i));
  return out;
}

}  // namespace argand::parallel::detail
