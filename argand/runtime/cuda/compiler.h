// Kernels from text: compiled by NVRTC for the device at hand, once per process, and kept on disk between processes.
#pragma once
#include <cuda_runtime_api.h>

#include <string>

#include "argand/runtime/cuda/launch_tape.h"

namespace argand::cuda {

// A kernel on every device of the process.
class Kernel {
 public:
  const void* function() const { return function_; }
  const KernelParameters& parameters() const { return *parameters_; }
  // Lets a block have that much dynamic shared memory.
  void allow_shared_memory(size_t nbytes) const;

 private:
  friend Kernel compile(const std::string&, const std::string&);
  const void* function_ = nullptr;
  const KernelParameters* parameters_ = nullptr;
};

// The kernel `name` (with its namespace: "argand::pointwise", "argand::softmax<float, 4>") of `source`, which may
// include the headers of the library that are meant for devices.  Slow the first time on a machine; later a load from
// disk. Keep what it returns: the call itself takes a microsecond.
//   The disk cache is $ARGAND_CACHE_DIR/kernels, or ~/.cache/argand/kernels; without a writable folder kernels are
// compiled in each process.
Kernel compile(const std::string& source, const std::string& name);

// Only compiles, for a given architecture ("sm_90"), without a device: machine code, or an Error with the log.
std::string compile_only(const std::string& source, const std::string& name, const std::string& arch,
                         std::string* lowered_name = nullptr);

}  // namespace argand::cuda
