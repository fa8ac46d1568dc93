// Which memory of a host with several NUMA nodes new pages come from.
#pragma once

namespace argand::cuda {

// While it lives, pages that the calling thread asks the system for are those of `node` as far as it has some; copies
// of a device from and to the node that it hangs on need not pass another.  Without effect where node is -1 (the host
// has one node) or the system refuses.
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
