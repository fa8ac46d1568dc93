#include "argand/runtime/cuda/nvrtc.h"

#include <nvrtc.h>
#include <pthread.h>

#include <map>
#include <mutex>
#include <new>
#include <set>
#include <shared_mutex>

#include "argand/base/error.h"
#include "argand/base/sha256.h"
#include "argand/runtime/cuda/embedded.h"
#include "argand/runtime/process_end.h"

namespace argand::cuda {
namespace {

constexpr const char* kOptions[] = {"--std=c++20", "--fmad=false",
                                    "-default-device"};  // Note [Same bits, fused or not]

#define ARGAND_NVRTC(call)                                                                                        \
  do {                                                                                                            \
    const nvrtcResult argand_result = (call);                                                                     \
    ARGAND_CHECK(Error, argand_result == NVRTC_SUCCESS, "NVRTC: ", nvrtcGetErrorString(argand_result), " (from ", \
                 #call, ")");                                                                                     \
  } while (false)

// Note [fork() waits for NVRTC]
// A child made by fork() has none of the other threads, but all locks that they held.  NVRTC holds locks while it
// compiles, and takes them when exit() destroys its globals: such a child would never end.  So fork() waits for running
// compilations.
class Compiling {
 public:
  Compiling() : lock_(gate()) {}

 private:
  static std::shared_mutex& gate() {
    static std::shared_mutex& gate = *[] {
      pthread_atfork([] { Compiling::gate().lock(); }, [] { Compiling::gate().unlock(); },
                     [] { new (&Compiling::gate()) std::shared_mutex; });  // threads may have waited at the parent's
      return new std::shared_mutex;
    }();
    return gate;
  }

  std::shared_lock<std::shared_mutex> lock_;
};

struct Program {
  nvrtcProgram handle = nullptr;
  ~Program() {
    if (handle) nvrtcDestroyProgram(&handle);
  }
};

std::string log_of(nvrtcProgram program) {
  size_t size = 0;
  nvrtcGetProgramLogSize(program, &size);
  std::string log(size, 0);
  nvrtcGetProgramLog(program, log.data());
  return log;
}

std::string ptx_of(nvrtcProgram program) {
  size_t size = 0;
  ARGAND_NVRTC(nvrtcGetPTXSize(program, &size));
  std::string ptx(size, 0);
  ARGAND_NVRTC(nvrtcGetPTX(program, ptx.data()));
  ptx.resize(ptx.find('\0'));  // the size counts it
  return ptx;
}

const std::string& version_text() {
  static const std::string& text = *[] {
    int major = 0, minor = 0;
    nvrtcVersion(&major, &minor);
    auto* all = new std::string(str(major, ".", minor));
    for (const char* option : kOptions) *all += str(" ", option);
    return all;
  }();
  return text;
}

// ---- what a text includes

// The embedded headers named in lines `#include "..."`, in order.
std::vector<std::string> included(std::string_view text) {
  constexpr std::string_view kInclude = "#include \"";
  std::vector<std::string> out;
  for (size_t at = text.find(kInclude); at != text.npos; at = text.find(kInclude, at)) {
    at += kInclude.size();
    out.emplace_back(text.substr(at, text.find('"', at) - at));
  }
  return out;
}

const char* text_of(const std::string& header) {
  for (const EmbeddedHeader& h : embedded_headers())
    if (header == h.name) return h.text;
  return "";  // CUDA's own: NVRTC's version stands for it
}

// The hash of a header's text and of all headers that it includes, directly or indirectly.
const std::string& header_hash(const std::string& header) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::map<std::string, std::string>;
  const std::lock_guard lock(mutex);
  std::string& hash = known[header];
  if (!hash.empty()) return hash;
  Sha256 all;
  std::set<std::string> seen{header};
  for (std::vector<std::string> left{header}; !left.empty();) {
    const std::string text = text_of(left.back());
    left.pop_back();
    all.update(text);
    for (std::string& name : included(text))
      if (seen.insert(name).second) left.push_back(std::move(name));
  }
  return hash = all.hex();
}

}  // namespace

MachineCode compile_text(const std::string& source, std::span<const std::string> names, const std::string& arch,
                         std::string* ptx) {
  std::vector<const char*> texts, headers;
  for (const EmbeddedHeader& h : embedded_headers()) {
    texts.push_back(h.text);
    headers.push_back(h.name);
  }
  const CallsThatMakeGlobals calls;
  const Compiling fork_waits;
  Program program;
  ARGAND_NVRTC(nvrtcCreateProgram(&program.handle, source.c_str(), "argand.cu", static_cast<int>(texts.size()),
                                  texts.data(), headers.data()));
  for (const std::string& name : names) ARGAND_NVRTC(nvrtcAddNameExpression(program.handle, name.c_str()));
  const std::string target = "--gpu-architecture=" + arch;
  std::vector<const char*> options(std::begin(kOptions), std::end(kOptions));
  options.push_back(target.c_str());
  const nvrtcResult result = nvrtcCompileProgram(program.handle, static_cast<int>(options.size()), options.data());
  if (result != NVRTC_SUCCESS)
    ARGAND_THROW(Error, "a kernel for ", arch, " does not compile (", nvrtcGetErrorString(result), "): ", names.front(),
                 "\n", log_of(program.handle), "\n", source);
  MachineCode out;
  for (const std::string& name : names) {
    const char* lowered = nullptr;
    ARGAND_NVRTC(nvrtcGetLoweredName(program.handle, name.c_str(), &lowered));
    out.names.emplace_back(lowered);
  }
  size_t size = 0;
  ARGAND_NVRTC(nvrtcGetCUBINSize(program.handle, &size));
  out.code.resize(size);
  ARGAND_NVRTC(nvrtcGetCUBIN(program.handle, out.code.data()));
  if (ptx) *ptx = ptx_of(program.handle);
  return out;
}

std::string content_key(const KernelRequest& kernel, const std::string& arch) {
  Sha256 all;
  all.update(str(version_text(), "\n", arch, "\n", kernel.name, "\n"));
  for (const std::string& header : included(kernel.source)) all.update(str(header_hash(header), "\n"));
  return all.update(kernel.source).hex();
}

}  // namespace argand::cuda
