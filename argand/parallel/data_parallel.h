// A batch cut into pieces, one for each of several devices with a replica of a module there.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "argand/core/tensor.h"
#include "argand/parallel/replica_gradients.h"

namespace argand::parallel {

// Clones of the module, one on each device.
template <class M>
std::vector<std::shared_ptr<M>> replicate(const std::shared_ptr<M>& module, const std::vector<Device>& devices) {
  std::vector<std::shared_ptr<M>> replicas;
  for (const Device& device : devices) replicas.push_back(std::dynamic_pointer_cast<M>(module->clone(device)));
  return replicas;
}
template <class Holder>  // a handle, such as nn::Linear
requires requires(const Holder& h) { h.ptr(); }
std::vector<Holder> replicate(const Holder& module, const std::vector<Device>& devices) {
  std::vector<Holder> replicas;
  for (const auto& replica : replicate(module.ptr(), devices)) replicas.emplace_back(replica);
  return replicas;
}

namespace detail {
// Runs f(0), ..., f(n - 1), each in its own thread with the caller's modes (exec::ThreadState); throws the first error.
void run_each(size_t n, const std::function<void(size_t)>& f);
// Makes `device` the current one while `f` runs.
void run_on(const Device& device, const std::function<void()>& f);
std::vector<Tensor> scatter(const Tensor& input, const std::vector<Device>& devices, int64_t dim);
Tensor gather(const std::vector<Tensor>& outputs, const Device& device, int64_t dim);
std::vector<Device> all_gpus();
}  // namespace detail

// Runs modules[i]->forward(inputs[i]) for all i at once, each on the device of its input; `devices` get the results.
template <class M>
std::vector<Tensor> parallel_apply(std::vector<M>& modules, const std::vector<Tensor>& inputs,
                                   const std::optional<std::vector<Device>>& devices = std::nullopt) {
  ARGAND_CHECK(ValueError, modules.size() == inputs.size() && (!devices || devices->size() == inputs.size()),
               "parallel_apply: expected as many inputs and devices as modules, got ", inputs.size(), " inputs and ",
               devices ? devices->size() : inputs.size(), " devices for ", modules.size(), " modules");
  std::vector<Tensor> outputs(inputs.size());
  detail::run_each(inputs.size(), [&](size_t i) {
    detail::run_on(inputs[i].device(), [&] {
      const Tensor output = modules[i]->forward(inputs[i]);
      outputs[i] = devices ? output.to((*devices)[i]) : output;
    });
  });
  return outputs;
}

// Splits the batch `input` along `dim`, runs replicas of the module on `devices` (all GPUs), and joins the results on
// `output_device` (the first).  Gradients arrive at the module's own parameters.
template <class ModuleType>
Tensor data_parallel(ModuleType module, Tensor input, std::optional<std::vector<Device>> devices = std::nullopt,
                     std::optional<Device> output_device = std::nullopt, int64_t dim = 0) {
  if (!devices) devices = detail::all_gpus();
  ARGAND_CHECK(ValueError, !devices->empty(), "data_parallel: expected at least one device");
  if (!output_device) output_device = devices->front();
  if (devices->size() == 1) {
    module->to(devices->front());
    return module->forward(input.to(devices->front())).to(*output_device);
  }
  const std::vector<Tensor> inputs = detail::scatter(input, *devices, dim);
  devices->resize(inputs.size());  // a small batch needs fewer devices
  auto replicas = replicate(module, *devices);
  std::vector<std::vector<Tensor>> copies;
  for (const auto& replica : replicas) copies.push_back(replica->parameters());
  link_gradients(module->parameters(), copies);
  return detail::gather(parallel_apply(replicas, inputs, *devices), *output_device, dim);
}

}  // namespace argand::parallel
