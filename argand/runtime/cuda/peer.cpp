#include "argand/runtime/cuda/peer.h"

#include <mutex>
#include <set>

#include "argand/runtime/backend.h"
#include "argand/runtime/cuda/check.h"

namespace argand::cuda {

bool can_access_peer(int from, int to) {
  int can = 0;
  if (from != to) ARGAND_CUDA(cudaDeviceCanAccessPeer(&can, from, to));
  return can != 0;
}

void enable_peer_access(int from, int to) {
  static std::mutex& mutex = *new std::mutex;
  static auto& enabled = *new std::set<std::pair<int, int>>;
  const std::lock_guard lock(mutex);
  if (!enabled.insert({from, to}).second || !can_access_peer(from, to)) return;
  const DeviceScope on(Device(kCUDA, static_cast<DeviceIndex>(from)));
  const DeviceCalls calls;
  const cudaError_t error = cudaDeviceEnablePeerAccess(to, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled)
    cudaGetLastError();
  else
    ARGAND_CUDA(error);
}

}  // namespace argand::cuda
