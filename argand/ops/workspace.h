// Working memory of one call on its device; on a CPU, up to InlineBytes are on the stack.
#pragma once
#include "argand/exec/invoke.h"
#include "argand/kernels/cpu/scratch.h"

namespace argand::ops {

template <size_t InlineBytes>
class Workspace {
 public:
  Workspace(int64_t nbytes, const Device& device) : host_(device.is_cpu() ? nbytes : 0) {
    if (!device.is_cpu()) device_ = exec::new_tensor({{nbytes}, kByte}, device);
  }
  char* data() { return device_.defined() ? static_cast<char*>(device_.impl().data()) : host_.data(); }

 private:
  ScratchBuffer<char, InlineBytes> host_;
  Tensor device_;
};

}  // namespace argand::ops
