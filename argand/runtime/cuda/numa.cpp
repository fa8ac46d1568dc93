#include "argand/runtime/cuda/numa.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace argand::cuda {

// Uses the system calls directly: their library, libnuma, would be one more dependency.
PreferNode::PreferNode(int node) noexcept {
  if (node < 0 || node >= kMostNodes) return;
  if (syscall(SYS_get_mempolicy, &mode_before_, nodes_before_, kMostNodes, nullptr, 0) != 0) return;
  unsigned long nodes[kWords] = {};
  nodes[node / 64] = 1ul << node % 64;
  active_ = syscall(SYS_set_mempolicy, MPOL_PREFERRED, nodes, kMostNodes) == 0;
}

PreferNode::~PreferNode() {
  if (active_) syscall(SYS_set_mempolicy, mode_before_, nodes_before_, kMostNodes);
}

}  // namespace argand::cuda
