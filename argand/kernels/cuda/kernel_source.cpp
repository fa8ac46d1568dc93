#include "argand/kernels/cuda/kernel_source.h"

#include <unordered_map>

#include "argand/base/error.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/code_type.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {

const char* device_type_name(ScalarType t) {
  if (is_complex(t)) throw NotOnDevice();
  return code_type(t);
}

Kernel kernel(const char* header, const std::string& name) {
  thread_local std::unordered_map<std::string, Kernel> of_device[kMaxDevices];
  auto& known = of_device[thread_device()];
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  // Types and constants among the arguments of the instance are named as in namespace argand.
  const std::string source = str("#include \"", header, "\"\nusing namespace argand;\n");
  return known[name] = compile(source, "argand::" + name);
}

unsigned blocks_for(int64_t n, int64_t per_block) {
  const int64_t blocks = (n + per_block - 1) / per_block;
  ARGAND_CHECK(ValueError, blocks < (int64_t{1} << 31), "a tensor of ", n, " elements is too large for this kernel");
  return static_cast<unsigned>(blocks);
}

}  // namespace argand::cuda
