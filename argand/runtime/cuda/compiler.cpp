#include "argand/runtime/cuda/compiler.h"

#include <array>
#include <map>
#include <mutex>
#include <optional>

#include "argand/base/error.h"
#include "argand/runtime/cuda/background_compiler.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/driver.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/kernel_cache.h"
#include "argand/runtime/cuda/kernel_pack.h"
#include "argand/runtime/cuda/streams.h"
#include "argand/runtime/process_end.h"

namespace argand::cuda {
namespace {

// ---- the device at hand

struct Architecture {
  std::string own, packed;  // "sm_86", and whose code of the pack it runs: "sm_80"
};

// Queried once per device.
const Architecture& architecture() {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::array<Architecture, kMaxDevices>;
  const int device = thread_device();
  const std::lock_guard lock(mutex);
  Architecture& a = known[static_cast<size_t>(device)];
  if (!a.own.empty()) return a;
  int major = 9, minor = 0;
  if (!dry_run()) {
    ARGAND_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    ARGAND_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  }
  a.packed = packed_arch(major);
  // With features of exactly this version, such as warpgroup products.
  a.own = str("sm_", major, minor, major == 9 ? "a" : "");
  return a;
}

// ---- loading

cudaLibrary_t load(const std::string& code) {
  cudaLibrary_t library = nullptr;
  ARGAND_CUDA(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  return library;
}

cudaKernel_t kernel_of(cudaLibrary_t library, const std::string& lowered_name) {
  cudaKernel_t kernel = nullptr;
  ARGAND_CUDA(cudaLibraryGetKernel(&kernel, library, lowered_name.c_str()));
  // Loads the code now: a first launch might have to wait for the device, which is impossible while a stream is
  // captured.
  cudaFuncAttributes attributes{};
  ARGAND_CUDA(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  return kernel;
}

KernelParameters parameters_of(cudaKernel_t kernel) {
  KernelParameters out;
  size_t offset = 0, size = 0;
  for (size_t i = 0; driver().kernel_get_param_info(kernel, i, &offset, &size) == CUDA_SUCCESS; ++i) {
    out.offsets.push_back(static_cast<uint32_t>(offset));
    out.sizes.push_back(static_cast<uint32_t>(size));
    out.nbytes = static_cast<uint32_t>(offset + size);
  }
  return out;
}

// ---- where kernels come from

// Guarded by its mutex; never destroyed.
struct Kernels {
  struct Module {
    cudaLibrary_t library = nullptr;
    MachineCode code;
  };
  std::mutex mutex;
  std::map<std::string, Kernel> known;  // by architecture, name and text
  std::map<uint32_t, Module> modules;   // of the pack, that were loaded
  std::vector<KernelRequest>* record = nullptr;
  KernelCounts counts;
};
Kernels& kernels() {
  static Kernels& k = *new Kernels;
  return k;
}

std::string known_key(const KernelRequest& r) { return str(architecture().own, "\n", r.name, "\n", r.source); }

// In the dry run nothing is loaded, and every kernel has this address.
const void* const kPretended = &kPretended;

std::optional<KernelPack::Place> place_in_pack(const KernelRequest& r) {
  const std::string& arch = architecture().packed;
  if (arch.empty() || kernel_pack().size() == 0) return {};
  return kernel_pack().find(content_key(r, arch));
}

// Null if the pack does not have the kernel, or cannot be used.
const void* from_pack(Kernels& all, const KernelRequest& r) {
  const std::optional<KernelPack::Place> place = place_in_pack(r);
  if (!place) return nullptr;
  Kernels::Module& module = all.modules[place->module];
  try {
    if (module.code.names.empty()) {
      std::optional<MachineCode> code = kernel_pack().read(place->module);
      if (code) module.code = std::move(*code);
    }
    if (place->name >= module.code.names.size()) return nullptr;
    const std::string& name = module.code.names[place->name];
    if (dry_run()) return kPretended;
    if (architecture().packed == kPackedPtx) return kernel_of(load(ptx_of_one(module.code.code, name)), name);
    if (!module.library) module.library = load(module.code.code);
    module.code.code.clear();
    return kernel_of(module.library, name);
  } catch (const DeviceError&) {  // a driver that is older than the PTX
    return nullptr;
  }
}

const void* load_one(const CompiledKernel& c) {
  return dry_run() ? kPretended : kernel_of(load(c.code), c.lowered_name);
}

const void* from_disk_or_text(Kernels& all, const KernelRequest& r) {
  const std::string& arch = architecture().own;
  const std::string key = content_key(r, arch);
  CompiledKernel compiled;
  if (std::optional<CompiledKernel> meanwhile = take_compiled(key)) {
    ++all.counts.compiled;
    return load_one(*meanwhile);
  }
  if (read_cached(key, compiled)) {
    ++all.counts.cached;
    return load_one(compiled);
  }
  MachineCode made = compile_text(r.source, {&r.name, 1}, arch);
  ++all.counts.compiled;
  compiled = {std::move(made.names.front()), std::move(made.code)};
  write_cached(key, compiled);
  return load_one(compiled);
}

bool is_ready(const KernelRequest& r, bool else_compile) {
  {
    const std::lock_guard lock(kernels().mutex);
    if (kernels().record || kernels().known.count(known_key(r))) return true;
  }
  if (place_in_pack(r)) return true;
  const std::string& arch = architecture().own;
  const std::string key = content_key(r, arch);
  if (has_compiled(key) || is_cached(key)) return true;
  if (else_compile) compile_later(key, r, arch);
  return false;
}

}  // namespace

Kernel compile(const KernelRequest& request) {
  Kernels& all = kernels();
  const std::string key = known_key(request);
  const DeviceCalls calls;
  const std::lock_guard lock(all.mutex);
  Kernel& kernel = all.known[key];
  if (kernel.function_) return kernel;
  const CallsThatMakeGlobals loads;
  const void* function = nullptr;
  if (all.record) {
    all.record->push_back(request);
    function = kPretended;
  } else {
    function = from_pack(all, request);
    if (function)
      ++all.counts.packed;
    else
      function = from_disk_or_text(all, request);
  }
  if (!dry_run()) {
    // Never freed, like the kernel itself.
    kernel.parameters_ = new KernelParameters(parameters_of(static_cast<cudaKernel_t>(const_cast<void*>(function))));
  }
  kernel.function_ = function;
  return kernel;
}

bool is_compiled(const KernelRequest& request) { return is_ready(request, false); }
bool is_compiled_or_will_be(const KernelRequest& request) { return is_ready(request, true); }

KernelCounts kernel_counts() {
  const std::lock_guard lock(kernels().mutex);
  return kernels().counts;
}

void record_kernels(std::vector<KernelRequest>* into) {
  ARGAND_CHECK(ValueError, dry_run(), "record_kernels: expected the dry run (ARGAND_CUDA_DRY_RUN=1)");
  const std::lock_guard lock(kernels().mutex);
  kernels().record = into;
}

void Kernel::allow_shared_memory(size_t nbytes) const {
  if (dry_run()) return;
  ARGAND_CUDA(cudaFuncSetAttribute(function_, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(nbytes)));
}

}  // namespace argand::cuda
