#include "tools/argand/info.h"

#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>

#include "argand/core/float32_precision.h"
#include "argand/exec/cuda.h"
#include "argand/exec/op_info.h"
#include "argand/kernels/cpu/vector_unit.h"
#include "argand/runtime/cpu/thread_pool.h"
#include "tools/argand/device.h"

namespace argand::cli {
namespace {

const char* vector_unit_name() {
  switch (cpu::vector_unit()) {
    case cpu::VectorUnit::kAvx512:
      return "AVX-512";
    case cpu::VectorUnit::kAvx2:
      return "AVX2";
    default:
      return "baseline";
  }
}

const char* kind_name(OpKind kind) {
  switch (kind) {
    case OpKind::kPointwise:
      return "pointwise";
    case OpKind::kKernel:
      return "kernel";
    case OpKind::kView:
      return "view";
    default:
      return "composite";
  }
}

void print_gpus() {
  std::string reason = why_no_gpu();
  if (!reason.empty()) {
    reason.resize(std::min(reason.find(';'), reason.size()));  // the rest is advice that sends people here
    std::printf("gpu         none: %s\n", reason.c_str());
    return;
  }
  for (int i = 0; i < cuda::device_count(); ++i) {
    const cuda::DeviceProperties p = cuda::get_device_properties(static_cast<DeviceIndex>(i));
    std::printf("gpu         cuda:%d %s, compute capability %d.%d, %d multiprocessors, %.1f GiB\n", i, p.name.c_str(),
                p.major, p.minor, p.multi_processor_count, static_cast<double>(p.total_memory) / (1 << 30));
  }
  std::printf("%s", backend_of(kCUDA).versions().c_str());
}

// Whether an op runs on the CPU when its tensors are on a GPU.
bool falls_back(const OpInfo& op) { return op.kind == OpKind::kKernel && !op.runs_anywhere; }

}  // namespace

int print_info() {
  std::printf("argand      %s\n", ARGAND_VERSION);
  std::printf("compiler    %s\n", __VERSION__);
  std::printf("cpu         %d threads, %s vectors\n", get_num_threads(), vector_unit_name());
  print_gpus();
  std::printf("operators   %zu\n", all_ops().size());
  const char* const tf32 = allow_tf32_matmul()  ? allow_tf32_cudnn() ? "products and convolutions" : "products"
                           : allow_tf32_cudnn() ? "convolutions"
                                                : "nothing";
  std::printf("float32     %s: on GPUs, %s may use TF32\n", get_float32_precision().c_str(), tf32);
  std::printf("libraries   zlib %s, libpng %s\n", zlibVersion(), png_get_libpng_ver(nullptr));
  return 0;
}

int print_ops(bool only_fallbacks) {
  for (const OpInfo* op : all_ops()) {
    if (only_fallbacks && !falls_back(*op)) continue;
    std::string dtypes;
    for (int t = 0; t < kNumScalarTypes; ++t)
      if (contains(op->dtypes, static_cast<ScalarType>(t)))
        dtypes += str(dtypes.empty() ? "" : " ", static_cast<ScalarType>(t));
    if (op->kind == OpKind::kComposite || op->dtypes == kAllTypes) dtypes = "all";
    std::printf("%-32s %-10s %-9s %-4s %s\n", op->name.c_str(), kind_name(op->kind),
                op->kind == OpKind::kPointwise ? "fusible" : "", falls_back(*op) ? "cpu" : "gpu", dtypes.c_str());
  }
  return 0;
}

}  // namespace argand::cli
