#include "argand/runtime/cuda/compiler.h"

#include <nvrtc.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <vector>

#include "argand/base/error.h"
#include "argand/base/sha256.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/driver.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/embedded.h"
#include "argand/runtime/cuda/process_end.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOptions[] = {"--std=c++20", "--fmad=false",
                                    "-default-device"};  // Note [Same bits, fused or not]

#define ARGAND_NVRTC(call)                                                                                        \
  do {                                                                                                            \
    const nvrtcResult argand_result = (call);                                                                     \
    ARGAND_CHECK(Error, argand_result == NVRTC_SUCCESS, "NVRTC: ", nvrtcGetErrorString(argand_result), " (from ", \
                 #call, ")");                                                                                     \
  } while (false)

struct Program {
  nvrtcProgram handle = nullptr;
  ~Program() {
    if (handle) nvrtcDestroyProgram(&handle);
  }
};

// What the code depends on beside its own text and the options.
const std::string& version_text() {
  static const std::string& text = *[] {
    int major = 0, minor = 0;
    nvrtcVersion(&major, &minor);
    Sha256 all;
    for (const EmbeddedHeader& h : embedded_headers()) all.update(h.text);
    return new std::string(str(major, ".", minor, " ", all.hex()));
  }();
  return text;
}

// ---- the disk cache: degrades, never fails

fs::path cache_folder() {
  if (const char* folder = std::getenv("ARGAND_CACHE_DIR"); folder && *folder) return fs::path(folder) / "kernels";
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder) return fs::path(folder) / "argand/kernels";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache/argand/kernels";
  return {};
}

// A file holds the lowered name of the kernel, a line break, the machine code, and the SHA-256 of all that.
struct Compiled {
  std::string lowered_name, code;
};

bool read_cached(const fs::path& path, Compiled& out) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  std::stringstream text;
  text << file.rdbuf();
  std::string all = text.str();
  constexpr size_t kDigest = 64;
  if (all.size() < kDigest || sha256_hex(all.substr(0, all.size() - kDigest)) != all.substr(all.size() - kDigest))
    return false;
  all.resize(all.size() - kDigest);
  const size_t line = all.find('\n');
  if (line == std::string::npos) return false;
  out = {all.substr(0, line), all.substr(line + 1)};
  return true;
}

void write_cached(const fs::path& path, const Compiled& c) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const fs::path temporary = path.string() + str(".", getpid(), ".tmp");
  const std::string all = c.lowered_name + "\n" + c.code;
  {
    std::ofstream file(temporary, std::ios::binary);
    file << all << sha256_hex(all);
    if (!file.flush()) error = std::make_error_code(std::errc::io_error);
  }
  if (!error) fs::rename(temporary, path, error);
  if (error) fs::remove(temporary, error);
}

// ---- loading

cudaKernel_t load(const Compiled& c) {
  cudaLibrary_t library = nullptr;
  ARGAND_CUDA(cudaLibraryLoadData(&library, c.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t kernel = nullptr;
  ARGAND_CUDA(cudaLibraryGetKernel(&kernel, library, c.lowered_name.c_str()));
  // Loads the code now: a first launch might have to wait for the device, which a stream that is captured cannot.
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

std::string arch_of_current_device() {
  if (dry_run()) return "sm_90";
  const int device = thread_device();
  int major = 0, minor = 0;
  ARGAND_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  ARGAND_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return str("sm_", major, minor);
}

}  // namespace

std::string compile_only(const std::string& source, const std::string& name, const std::string& arch,
                         std::string* lowered_name) {
  std::vector<const char*> texts, names;
  for (const EmbeddedHeader& h : embedded_headers()) {
    texts.push_back(h.text);
    names.push_back(h.name);
  }
  Program program;
  ARGAND_NVRTC(nvrtcCreateProgram(&program.handle, source.c_str(), "argand.cu", static_cast<int>(texts.size()),
                                  texts.data(), names.data()));
  ARGAND_NVRTC(nvrtcAddNameExpression(program.handle, name.c_str()));
  const std::string target = "--gpu-architecture=" + arch;
  std::vector<const char*> options(std::begin(kOptions), std::end(kOptions));
  options.push_back(target.c_str());
  const nvrtcResult result = nvrtcCompileProgram(program.handle, static_cast<int>(options.size()), options.data());
  if (result != NVRTC_SUCCESS) {
    size_t size = 0;
    nvrtcGetProgramLogSize(program.handle, &size);
    std::string log(size, 0);
    nvrtcGetProgramLog(program.handle, log.data());
    ARGAND_THROW(Error, "a kernel for ", arch, " does not compile (", nvrtcGetErrorString(result), "): ", name, "\n",
                 log, "\n", source);
  }
  const char* lowered = nullptr;
  ARGAND_NVRTC(nvrtcGetLoweredName(program.handle, name.c_str(), &lowered));
  if (lowered_name) *lowered_name = lowered;
  size_t size = 0;
  ARGAND_NVRTC(nvrtcGetCUBINSize(program.handle, &size));
  std::string code(size, 0);
  ARGAND_NVRTC(nvrtcGetCUBIN(program.handle, code.data()));
  return code;
}

Kernel compile(const std::string& source, const std::string& name) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::map<std::string, Kernel>;
  const std::string arch = arch_of_current_device();
  const std::string key = str(arch, "\n", name, "\n", source);
  const DeviceCalls calls;
  const std::lock_guard lock(mutex);
  Kernel& kernel = known[key];
  if (kernel.function_) return kernel;
  Compiled compiled;
  const fs::path folder = cache_folder();
  const fs::path path = folder.empty() ? folder : folder / (sha256_hex(str(version_text(), "\n", key)) + ".cubin");
  if (path.empty() || !read_cached(path, compiled)) {
    compiled.code = compile_only(source, name, arch, &compiled.lowered_name);
    if (!path.empty()) write_cached(path, compiled);
  }
  if (dry_run()) {
    kernel.function_ = &known;
  } else {
    const cudaKernel_t loaded = load(compiled);
    if (known.size() == 1) watch_process_end();
    kernel.parameters_ = new KernelParameters(parameters_of(loaded));  // as the kernel itself, for ever
    kernel.function_ = loaded;
  }
  return kernel;
}

void Kernel::allow_shared_memory(size_t nbytes) const {
  if (dry_run()) return;
  ARGAND_CUDA(cudaFuncSetAttribute(function_, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(nbytes)));
}

}  // namespace argand::cuda
