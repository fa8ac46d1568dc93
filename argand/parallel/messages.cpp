#include "argand/parallel/messages.h"

#include <thread>
#include <vector>

#include "argand/base/error.h"
#include "argand/exec/invoke.h"

namespace argand::parallel {
namespace {

// Goes before each message, since both ends of a transfer must give one number of bytes.
struct Header {
  uint64_t bytes = 0;
  uint64_t number = 0;  // of the message, in the tag of its bytes: several may be on their way
};

// Above all tags of collectives.  The lowest bits are the number of the message, 0 for headers.
uint64_t tag_of(uint64_t group, int tag, uint64_t number) {
  constexpr uint64_t kNumbers = (1 << 15) - 1;
  return (uint64_t{1} << 63) | (group << 47) | (uint64_t{static_cast<uint32_t>(tag)} << 15) |
         (number == 0 ? 0 : 1 + (number - 1) % kNumbers);
}

}  // namespace

void Messages::start(std::function<void()> wait) {
  {
    const std::lock_guard lock(mutex_);
    ++threads_;
  }
  try {
    std::thread([this, wait = std::move(wait)] {
      wait();
      const std::lock_guard lock(mutex_);
      if (--threads_ == 0) none_left_.notify_all();
    }).detach();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    --threads_;
    throw;
  }
}

void Messages::wait_for_all() {
  std::unique_lock lock(mutex_);
  none_left_.wait(lock, [this] { return threads_ == 0; });
}

void Messages::send(const Tensor& tensor, int to, int tag, Done done) {
  struct Post {
    Tensor tensor;
    Header header;
    std::unique_ptr<Transfer> first, second;
  };
  const auto post = std::make_shared<Post>();
  post->tensor = tensor;
  {
    const std::lock_guard lock(mutex_);
    post->header = {tensor.nbytes(), ++sent_[{to, tag}]};
    post->first = transport_.send(&post->header, sizeof(Header), to, tag_of(group_, tag, 0));
    post->second = transport_.send(raw<void>(tensor), tensor.nbytes(), to, tag_of(group_, tag, post->header.number));
  }
  start([post, done = std::move(done)] {
    std::exception_ptr error;
    try {
      post->first->wait();
      post->second->wait();
    } catch (...) {
      error = std::current_exception();
    }
    done(error, -1);
  });
}

void Messages::receive(const Tensor& tensor, int from, int tag, Done done) {
  struct Post {
    Tensor tensor;
    Header header;
    std::unique_ptr<Transfer> first;
  };
  const auto post = std::make_shared<Post>();
  post->tensor = tensor;
  post->first = transport_.receive(&post->header, sizeof(Header), from, tag_of(group_, tag, 0));
  start([this, post, tag, done = std::move(done)] {
    std::exception_ptr error;
    int sender = -1;
    try {
      sender = post->first->wait();
      const uint64_t where = tag_of(group_, tag, post->header.number);
      if (post->header.bytes == post->tensor.nbytes()) {
        transport_.receive(raw<void>(post->tensor), post->header.bytes, sender, where)->wait();
      } else {
        std::vector<char> unwanted(post->header.bytes);
        transport_.receive(unwanted.data(), unwanted.size(), sender, where)->wait();
        ARGAND_THROW(ShapeError, "rank ", sender, " sent ", post->header.bytes, " bytes, expected ",
                     post->tensor.nbytes());
      }
    } catch (...) {
      error = std::current_exception();
    }
    done(error, sender);
  });
}

}  // namespace argand::parallel
