// Copies of a model's tensors on other devices of the process, kept from one forward to the next.
//
// Note [Replicas on devices]
// A tensor is copied again only if it, or the copy, was written or replaced since; the versions of their storages show
// that.  Storages that can be written without a new version are copied each time: those whose address has left the
// library, and all once a captured graph was replayed.  Small tensors travel together.  Copies go from each device to
// the next one, so that with many devices each link carries the bytes once.
#pragma once
#include <memory>
#include <vector>

#include "argand/core/tensor.h"

namespace argand::parallel {

class DeviceReplicas {
 public:
  // The first device holds the tensors themselves.
  explicit DeviceReplicas(std::vector<Device> devices);
  ~DeviceReplicas();
  DeviceReplicas(const DeviceReplicas&) = delete;
  DeviceReplicas& operator=(const DeviceReplicas&) = delete;

  // Returns one list of copies for each of the first n devices.  Undefined tensors stay undefined.  While gradients are
  // recorded, the gradients of the copies arrive at the parameters (Note [Gradients of replicas]).
  using Lists = std::vector<std::vector<Tensor>>;
  Lists parameters(const std::vector<Tensor>& parameters, size_t n);
  // The first device has the buffers themselves, so what a forward writes there stays.
  Lists buffers(const std::vector<Tensor>& buffers, size_t n);

 private:
  class Copies;
  const std::vector<Device> devices_;
  const std::unique_ptr<Copies> parameters_, buffers_;
};

}  // namespace argand::parallel
