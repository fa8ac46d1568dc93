#include "argand/kernels/cuda/kernel_source.h"

#include <mutex>
#include <unordered_map>

#include "argand/base/error.h"
#include "argand/kernels/blocks.h"

namespace argand::cuda {

const char* device_type_name(ScalarType t) {
  switch (t) {
    case kByte:
      return "unsigned char";
    case kChar:
      return "signed char";
    case kShort:
      return "short";
    case kInt:
      return "int";
    case kLong:
      return "long long";
    case kHalf:
      return "argand::Half";
    case kBFloat16:
      return "argand::BFloat16";
    case kFloat:
      return "float";
    case kDouble:
      return "double";
    case kBool:
      return "bool";
    default:
      throw NotOnDevice();
  }
}

const Kernel& kernel(const char* header, const std::string& name) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::unordered_map<std::string, Kernel>;
  const std::lock_guard lock(mutex);
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  const std::string source = str("#include \"", header, "\"\n");
  return known[name] = compile(source, "argand::" + name);
}

unsigned blocks_for(int64_t n, int64_t per_block) {
  const int64_t blocks = (n + per_block - 1) / per_block;
  ARGAND_CHECK(ValueError, blocks < (int64_t{1} << 31), "a tensor of ", n, " elements is too large for this kernel");
  return static_cast<unsigned>(blocks);
}

}  // namespace argand::cuda
