// The NUMA node of new host pages.
#pragma once

namespace argand::cuda {

// While it lives, new pages of the calling thread come from `node` if it has free ones: a device copies fastest from
// and to the node that it is attached to.  Without effect if node is -1 (the host has one node) or the system refuses.
class PreferNode {
 public:
  explicit PreferNode(int node) noexcept;
  ~PreferNode();
  PreferNode(const PreferNode&) = delete;
  PreferNode& operator=(const PreferNode&) = delete;
  bool active() const noexcept { return active_; }

 private:
  static constexpr int kMostNodes = 1024;
  static constexpr int kWords = kMostNodes / 64;
  int mode_before_ = 0;
  unsigned long nodes_before_[kWords] = {};
  bool active_ = false;
};

}  // namespace argand::cuda
