#include "argand/kernels/cuda/kernel_source.h"

#include "argand/base/error.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/code_type.h"

namespace argand::cuda {

const char* device_type_name(ScalarType t) {
  if (is_complex(t)) throw NotOnDevice("complex numbers");
  return code_type(t);
}

Kernel kernel(const char* header, std::string name) {
  static KernelTable& known = *new KernelTable;
  const size_t length = name.size();
  name += header;  // two headers may have a kernel of one name
  return known.get(name, [&] {
    // Types and constants among the arguments of the instance are named as in namespace argand.
    return compile({str("#include \"", header, "\"\nusing namespace argand;\n"), "argand::" + name.substr(0, length)});
  });
}

KernelTable& detail::kernels_by_arguments() {
  static KernelTable& known = *new KernelTable;
  return known;
}

unsigned blocks_for(int64_t n, int64_t per_block) {
  const int64_t blocks = (n + per_block - 1) / per_block;
  ARGAND_CHECK(ValueError, blocks < (int64_t{1} << 31), "a tensor of ", n, " elements is too large for this kernel");
  return static_cast<unsigned>(blocks);
}

}  // namespace argand::cuda
