// For tests of blocks: arrays on the GPU.
#pragma once
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/stream_tapes.h"

namespace argand::cuda {

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values) : size_(values.size()) {
    ARGAND_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), (size_ + 1) * sizeof(T)));
    ARGAND_CUDA(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() {
    issue_tapes_quietly(0, FlushCause::kMemory);  // unfinished work may still use it
    cudaFree(data_);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  std::vector<T> values() const {
    std::vector<T> out(size_);
    issue_tapes(0, FlushCause::kWait);
    ARGAND_CUDA(cudaDeviceSynchronize());
    ARGAND_CUDA(cudaMemcpy(out.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
  }

 private:
  T* data_ = nullptr;
  size_t size_;
};

// Tests of this fixture are skipped where there is no GPU.
class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "there is no CUDA device";
  }
};

}  // namespace argand::cuda
