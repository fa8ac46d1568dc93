// Kernels from text, once per process: from the pack made when the library was built, from what this machine compiled
// before, or compiled by NVRTC for the device at hand.
#pragma once
#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "argand/runtime/cuda/launch_tape.h"
#include "argand/runtime/cuda/nvrtc.h"

namespace argand::cuda {

// A kernel, for all devices of the process.
class Kernel {
 public:
  const void* function() const { return function_; }
  const KernelParameters& parameters() const { return *parameters_; }
  // Lets a block have that much dynamic shared memory.
  void allow_shared_memory(size_t nbytes) const;

 private:
  friend Kernel compile(const KernelRequest&);
  const void* function_ = nullptr;
  const KernelParameters* parameters_ = nullptr;
};

// A kernel for the current device.  It takes about 0.1 s the first time on a machine, unless the kernel is in the pack.
// Keep the result: each call takes a microsecond.
Kernel compile(const KernelRequest& request);

// Whether the kernel is ready, so that compile() does not compile it.
bool is_compiled(const KernelRequest& request);
// The same; if not, another thread starts to compile it, and compile() would wait for that (Note [Compiling
// meanwhile]).
bool is_compiled_or_will_be(const KernelRequest& request);

// The sources of this process's kernels.
struct KernelCounts {
  uint64_t packed = 0, cached = 0, compiled = 0;  // `compiled` by any thread
};
KernelCounts kernel_counts();

// In the dry run, compile() from now on only adds the requests to `into`; null ends this.
void record_kernels(std::vector<KernelRequest>* into);

}  // namespace argand::cuda
