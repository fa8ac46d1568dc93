#include "argand/runtime/cuda/check.h"

#include <atomic>
#include <string>
#include <vector>

#include "argand/base/error.h"

namespace argand::cuda {
namespace {

// The last launches of the process; written without a lock, read for a message only.
constexpr unsigned kRing = 16;
constinit std::atomic<const char*> ring[kRing] = {};
constinit std::atomic<unsigned> ring_next{0};

std::string last_ops() {
  std::string text;
  const unsigned end = ring_next.load();
  for (unsigned i = 1; i <= kRing && i <= end; ++i) {
    const char* op = ring[(end - i) % kRing].load();
    if (!op || !*op || text.find(op) != std::string::npos) continue;
    text += str(text.empty() ? "" : ", ", op);
  }
  return text.empty() ? "none" : text;
}

// After these the context is lost, and every later call fails with the same error.
bool is_sticky(cudaError_t e) {
  switch (e) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
      return true;
    default:
      return false;
  }
}

}  // namespace

void note_launch(const char* op) {
  ring[ring_next.fetch_add(1, std::memory_order_relaxed) % kRing].store(op, std::memory_order_relaxed);
}

void throw_cuda_error(cudaError_t error, const char* call) {
  cudaGetLastError();
  if (!is_sticky(error))
    ARGAND_THROW(DeviceError, "CUDA: ", cudaGetErrorString(error), " (", cudaGetErrorName(error), ", from ", call, ")");
  ARGAND_THROW(DeviceError, "CUDA: ", cudaGetErrorString(error), " (", cudaGetErrorName(error),
               "). A kernel of one of the ops launched last caused it; the newest first: ", last_ops(),
               ". The device cannot be used again in this process. With CUDA_LAUNCH_BLOCKING=1 the error shows at the "
               "op that causes it.");
}

}  // namespace argand::cuda
