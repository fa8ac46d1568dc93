// Point-to-point messages of a group.  They are posted at the call, and each has a thread that waits for it.
#pragma once
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>

#include "argand/core/tensor.h"
#include "argand/runtime/transport.h"

namespace argand::parallel {

// Numbers the messages to each rank, over all groups of a world.
class MessageNumbers {
 public:
  uint64_t next(int to) {
    const std::lock_guard lock(mutex_);
    return ++last_[to];
  }

 private:
  std::mutex mutex_;
  std::map<int, uint64_t> last_;
};

class Messages {
 public:
  // Ranks are those of the world.
  using Done = std::function<void(std::exception_ptr error, int sender)>;

  Messages(Transport& transport, MessageNumbers& numbers, uint64_t group)
      : transport_(transport), numbers_(numbers), group_(group) {}

  // Tensors are contiguous in host memory.  `done` is called once, on another thread; its error is a ShapeError or a
  // DtypeError, which begins with `call`, if the sender's tensor has another number of elements or another dtype.
  void send(const Tensor& tensor, int to, int tag, Done done);
  void receive(const Tensor& tensor, int from, int tag, const std::string& call, Done done);  // from -1: from any rank
  bool any() {                                                                                // that are not done
    const std::lock_guard lock(mutex_);
    return threads_ > 0;
  }
  void wait_for_all();

 private:
  void start(std::function<void()> wait);

  Transport& transport_;
  MessageNumbers& numbers_;
  const uint64_t group_;
  std::mutex mutex_;
  std::condition_variable none_left_;
  int threads_ = 0;
};

}  // namespace argand::parallel
