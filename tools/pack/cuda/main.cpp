// argand_pack --out FILE: makes the kernel pack of this build (Note [Kernel pack]), on a machine with or without a GPU.
// What does not compile for an architecture is left out with a warning.  Batches that did not change come from the disk
// cache ($ARGAND_CACHE_DIR).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "argand/base/error.h"
#include "argand/base/log.h"
#include "argand/base/sha256.h"
#include "argand/exec/cuda/program_text.h"
#include "argand/runtime/backend.h"
#include "argand/runtime/cuda/compiler.h"
#include "argand/runtime/cuda/kernel_cache.h"
#include "argand/runtime/cuda/kernel_pack.h"
#include "tools/pack/calls.h"

namespace argand::pack {
namespace {

using cuda::KernelRequest;
using cuda::MachineCode;
using cuda::PackModule;
using Batch = std::vector<KernelRequest>;  // compiled as one text

// ---- what is asked for

// Pointwise groups by what asked for them first; template instances by their header.
std::vector<Batch> record() {
  std::vector<KernelRequest> asked;
  std::vector<std::string> names;  // of who asked
  std::string current;
  const auto note = [&] { names.resize(asked.size(), current); };
  const Announce announce = [&](const std::string& name) {
    note();
    current = name;
  };
  cuda::record_kernels(&asked);
  call_pointwise_ops(announce);
  train_networks(announce);
  note();
  cuda::record_kernels(nullptr);
  std::map<std::string, Batch> batches;
  for (size_t i = 0; i < asked.size(); ++i)
    batches[asked[i].name == exec::kKernelName ? names[i] : asked[i].source].push_back(asked[i]);
  std::vector<Batch> out;
  for (auto& [name, batch] : batches) out.push_back(std::move(batch));
  return out;
}

// ---- compiling

std::string renamed(const std::string& kernel_name, size_t i) {
  std::string out = kernel_name;
  return out.replace(out.find(exec::kGroup), std::string_view(exec::kGroup).size(), str(exec::kGroup, i));
}

MachineCode compile_batch(const Batch& batch, const std::string& arch, std::string* ptx) {
  std::vector<std::string> names;
  if (batch.front().name != exec::kKernelName) {
    for (const KernelRequest& r : batch) names.push_back(r.name);
    return cuda::compile_text(batch.front().source, names, arch, ptx);
  }
  std::string text;
  for (size_t i = 0; i < batch.size(); ++i) {
    text += str("#define ", exec::kGroup, " ", exec::kGroup, i, "\n", batch[i].source, "#undef ", exec::kGroup, "\n");
    names.push_back(renamed(exec::kKernelName, i));
  }
  return cuda::compile_text(text, names, arch, ptx);
}

std::vector<std::string> keys_of(const Batch& batch, const std::string& arch) {
  std::vector<std::string> keys;
  for (const KernelRequest& r : batch) keys.push_back(cuda::content_key(r, arch));
  return keys;
}

// A module in the disk cache: its names in one line.
std::string cache_key(const std::vector<std::string>& keys) {
  Sha256 all;
  for (const std::string& key : keys) all.update(key);
  return all.update("module").hex();
}
bool read_module(PackModule& m) {
  cuda::CompiledKernel cached;
  if (!cuda::read_cached(cache_key(m.keys), cached)) return false;
  m.code = {std::move(cached.code), {}};
  for (size_t at = 0, end; at < cached.lowered_name.size(); at = end + 1) {
    end = std::min(cached.lowered_name.find(' ', at), cached.lowered_name.size());
    m.code.names.push_back(cached.lowered_name.substr(at, end - at));
  }
  return m.code.names.size() == m.keys.size();
}
void write_module(const PackModule& m) {
  std::string names;
  for (const std::string& name : m.code.names) names += (names.empty() ? "" : " ") + name;
  cuda::write_cached(cache_key(m.keys), {names, m.code.code});
}

// sm_80, and sm_90 with the PTX that it is made of.  Returns how many texts were compiled.
int make_modules(const Batch& batch, std::vector<PackModule>& out) {
  int compiled = 0;
  const auto attempt = [&](const char* arch, const char* ptx_arch) {
    PackModule code{keys_of(batch, arch), {}}, ptx;
    if (ptx_arch) ptx.keys = keys_of(batch, ptx_arch);
    try {
      if (!read_module(code) || (ptx_arch && !read_module(ptx))) {
        code.code = compile_batch(batch, arch, ptx_arch ? &ptx.code.code : nullptr);
        ptx.code.names = code.code.names;
        write_module(code);
        if (ptx_arch) write_module(ptx);
        ++compiled;
      }
    } catch (const Error& e) {
      return warn("not in the kernel pack: ", e.what());
    }
    out.push_back(std::move(code));
    if (ptx_arch) out.push_back(std::move(ptx));
  };
  attempt("sm_80", nullptr);
  attempt("sm_90", cuda::kPackedPtx);
  return compiled;
}

void write_whole(const std::string& path, const std::string& bytes) {
  const std::string temporary = path + ".tmp";
  {
    std::ofstream file(temporary, std::ios::binary);
    file << bytes;
    ARGAND_CHECK(IoError, file.flush().good(), "cannot write ", temporary);
  }
  std::filesystem::rename(temporary, path);
}

int run(const std::string& path) {
  const WarningFunction before = set_warning_handler([](std::string_view) {});  // ops that have no kernel say so
  backend_of(kCUDA);
  const std::vector<Batch> batches = record();
  set_warning_handler(before);
  int compiled = 0;
  size_t kernels = 0;
  std::vector<PackModule> modules;
  for (const Batch& b : batches) {
    compiled += make_modules(b, modules);  // one after the other: NVRTC locks
    kernels += b.size();
  }
  const std::string bytes = cuda::pack_bytes(modules);
  write_whole(path, bytes);
  std::printf("kernel pack: %zu kernels in %zu batches, %d texts compiled, %.1f MB\n", kernels, batches.size(),
              compiled, static_cast<double>(bytes.size()) / 1e6);
  return 0;
}

}  // namespace
}  // namespace argand::pack

int main(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "--out") {
    std::fprintf(stderr, "usage: argand_pack --out FILE\n");
    return 2;
  }
  setenv("ARGAND_CUDA_DRY_RUN", "1", 1);
  try {
    return argand::pack::run(argv[2]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "argand_pack: %s\n", e.what());
    return 1;
  }
}
