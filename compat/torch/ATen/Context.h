// at::globalContext(): settings of the process, and what the library was built with.
#pragma once
#include "ATen/Parallel.h"
#include "argand/base/shared.h"
#include "argand/core/cpu_generator.h"
#include "argand/core/cudnn_enabled.h"
#include "argand/core/float32_precision.h"
#include "argand/exec/cuda.h"
#include "argand/ops/functions.h"
#include "c10/util/Exception.h"

namespace argand {
inline Tensor Generator::get_state() const {
  const std::vector<uint8_t> bytes = state();
  const Tensor out = empty({static_cast<int64_t>(bytes.size())}, TensorOptions(kByte));
  std::copy(bytes.begin(), bytes.end(), out.data_ptr<uint8_t>());
  return out;
}
inline void Generator::set_state(const Tensor& state) {
  ARGAND_CHECK(DtypeError, state.dtype() == kByte && state.is_cpu() && state.is_contiguous(),
               "set_state: expected a contiguous tensor of bytes on the CPU, got ", state.dtype());
  const uint8_t* const bytes = state.data_ptr<uint8_t>();
  set_state(std::vector<uint8_t>(bytes, bytes + state.numel()));
}
}  // namespace argand

namespace at {

// Ops are deterministic, and the fastest measured algorithm is chosen for a convolution, whatever is set here: such
// settings are stored only for code that reads them.
class ARGAND_SHARED Context {
 public:
  static bool hasCUDA() { return argand::cuda::is_available(); }
  static bool hasCuDNN() { return versionCuDNN() > 0; }
  static long versionCuDNN() { return hasCUDA() ? argand::cuda::cudnn_version() : 0; }
  static bool hasMKL() { return false; }
  static bool hasMKLDNN() { return false; }
  static bool hasLAPACK() { return true; }
  static bool hasMAGMA() { return false; }
  static bool hasOpenMP() { return false; }
  static bool hasHIP() { return false; }
  static bool hasMPS() { return false; }
  static bool hasXPU() { return false; }

  static bool userEnabledCuDNN() { return cudnn_enabled(); }
  static void setUserEnabledCuDNN(bool on) { set_cudnn_enabled(on); }
  bool benchmarkCuDNN() const { return benchmark_; }
  void setBenchmarkCuDNN(bool on) { benchmark_ = on; }
  bool deterministicCuDNN() const { return deterministic_cudnn_; }
  void setDeterministicCuDNN(bool on) { deterministic_cudnn_ = on; }
  bool deterministicAlgorithms() const { return deterministic_; }
  bool deterministicAlgorithmsWarnOnly() const { return warn_only_; }
  void setDeterministicAlgorithms(bool on, bool warn_only) { deterministic_ = on, warn_only_ = warn_only; }
  // For user-defined kernels: an error, or a warning, if deterministic algorithms are required.
  static void alertNotDeterministic(std::string_view caller);
  static bool allowTF32CuBLAS() { return allow_tf32_matmul(); }
  static void setAllowTF32CuBLAS(bool on) { set_allow_tf32_matmul(on); }
  static bool allowTF32CuDNN() { return allow_tf32_cudnn(); }
  static void setAllowTF32CuDNN(bool on) { set_allow_tf32_cudnn(on); }
  static void setFloat32MatmulPrecision(const std::string& precision) { set_float32_matmul_precision(precision); }
  // Half-precision products are always summed in float32, whatever is set.
  bool allowFP16ReductionCuBLAS() const { return fp16_reduction_; }
  void setAllowFP16ReductionCuBLAS(bool on) { fp16_reduction_ = on; }
  bool allowBF16ReductionCuBLAS() const { return bf16_reduction_; }
  void setAllowBF16ReductionCuBLAS(bool on) { bf16_reduction_ = on; }
  // harmless: the answer says that it cannot be set
  static bool setFlushDenormal(bool) { return false; }
  static void lazyInitCUDA() { TORCH_CHECK(hasCUDA(), "Cannot initialize CUDA: there is no device"); }
  static const Generator& defaultGenerator(Device device) {
    TORCH_CHECK(device.is_cpu(), "defaultGenerator: expected the CPU, got ", device.str());
    return default_cpu_generator();
  }

 private:
  bool benchmark_ = false, deterministic_cudnn_ = false, deterministic_ = false, warn_only_ = false,
       fp16_reduction_ = true, bf16_reduction_ = true;
};

inline ARGAND_SHARED Context& globalContext() {
  static Context context;
  return context;
}
inline void Context::alertNotDeterministic(std::string_view caller) {
  const Context& context = globalContext();
  if (!context.deterministic_) return;
  const std::string message = c10::str(
      caller,
      " does not have a deterministic implementation, but you set "
      "'torch.use_deterministic_algorithms(true)'. Turn determinism off for this operation, or ask for warnings "
      "alone by its warn_only");
  TORCH_CHECK(context.warn_only_, message);
  TORCH_WARN(message);
}
inline size_t getNumGPUs() { return static_cast<size_t>(argand::cuda::device_count()); }
inline bool hasCUDA() { return Context::hasCUDA(); }
inline bool hasCuDNN() { return Context::hasCuDNN(); }
inline bool hasMKL() { return Context::hasMKL(); }
inline bool hasMKLDNN() { return Context::hasMKLDNN(); }
inline bool hasLAPACK() { return Context::hasLAPACK(); }
inline bool hasMAGMA() { return Context::hasMAGMA(); }
inline bool hasOpenMP() { return Context::hasOpenMP(); }
inline bool hasHIP() { return Context::hasHIP(); }
inline bool hasMPS() { return Context::hasMPS(); }
inline bool hasXPU() { return Context::hasXPU(); }

inline std::string show_config() {
  return c10::str("Argand, with the API of LibTorch\n  - CUDA ", hasCUDA() ? "available" : "not available", ", cuDNN ",
                  Context::versionCuDNN(), "\n");
}
inline std::string get_parallel_info() {
  return c10::str("at::get_num_threads() : ", argand::get_num_threads(), "\nat::get_num_interop_threads() : 1\n");
}

namespace detail {
inline Generator createCPUGenerator(uint64_t seed = kDefaultSeed) { return make_cpu_generator(seed); }
inline const Generator& getDefaultCPUGenerator() { return default_cpu_generator(); }
}  // namespace detail

}  // namespace at
