// A descriptor of cuDNN's graph API, and how its calls fail.
#pragma once

#if ARGAND_CUDNN

#include <cstdint>
#include <utility>
#include <vector>

#include "argand/runtime/cuda/cudnn_library.h"

namespace argand::cuda::cudnn {

// REQUIRES that cuDNN is there.
inline const CudnnLibrary& api() { return *find_cudnn(); }

// Thrown if the library refuses a call; plans are tried until one is accepted.
struct Refused {
  cudnnStatus_t status;
};
inline void check(cudnnStatus_t status) {
  if (status != CUDNN_STATUS_SUCCESS) throw Refused{status};
}

class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) { check(api().create_descriptor(type, &handle_)); }
  ~Descriptor() {
    if (handle_) api().destroy_descriptor(handle_);
  }
  Descriptor(Descriptor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count, const void* values) {
    check(api().set_attribute(handle_, name, type, count, values));
  }
  template <class T>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
    set(name, type, 1, &value);
  }
  void set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, value.handle_);
  }
  void set(cudnnBackendAttributeName_t name, const std::vector<Descriptor>& values) {
    std::vector<cudnnBackendDescriptor_t> handles;
    for (const Descriptor& d : values) handles.push_back(d.handle_);
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(handles.size()), handles.data());
  }
  void set(cudnnBackendAttributeName_t name, const std::vector<int64_t>& values) {
    set(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.data());
  }
  // Returns the number of elements; at most `most` are written.
  int64_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t most, void* values) const {
    int64_t count = 0;
    check(api().get_attribute(handle_, name, type, most, &count, values));
    return count;
  }
  // The first elements, at most `most`.
  std::vector<Descriptor> get_descriptors(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
                                          int64_t most) const {
    std::vector<Descriptor> out;
    std::vector<cudnnBackendDescriptor_t> handles;
    for (int64_t i = 0; i < most; ++i) handles.push_back(out.emplace_back(type).handle_);
    const int64_t got = most == 0 ? 0 : get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, handles.data());
    while (static_cast<int64_t>(out.size()) > got) out.pop_back();
    return out;
  }
  void finalize() { check(api().finalize(handle_)); }
  cudnnBackendDescriptor_t handle() const { return handle_; }

 private:
  cudnnBackendDescriptor_t handle_ = nullptr;
};

}  // namespace argand::cuda::cudnn

#endif
