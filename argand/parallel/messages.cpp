#include "argand/parallel/messages.h"

#include <thread>
#include <vector>

#include "argand/base/error.h"
#include "argand/exec/invoke.h"
#include "argand/parallel/tags.h"

namespace argand::parallel {
namespace {

// A header is sent before each message, because both ends of a transfer must give one number of bytes, and to find out
// whether both have the same dtype.
struct Header {
  uint64_t bytes = 0;
  uint64_t dtype = 0;
  uint64_t number = 0;  // the number of the message between two ranks
  uint64_t group = 0;
  int64_t tag = 0;
};

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
    post->header = {tensor.nbytes(), static_cast<uint64_t>(tensor.dtype()), numbers_.next(to), group_, tag};
    post->first = transport_.send(&post->header, sizeof(Header), to, header_tag(group_, tag));
    post->second = transport_.send(raw<void>(tensor), tensor.nbytes(), to, content_tag(post->header.number));
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

void Messages::receive(const Tensor& tensor, int from, int tag, const std::string& call, Done done) {
  struct Post {
    Tensor tensor;
    Header header;
    std::unique_ptr<Transfer> first;
  };
  const auto post = std::make_shared<Post>();
  post->tensor = tensor;
  post->first = transport_.receive(&post->header, sizeof(Header), from, header_tag(group_, tag));
  start([this, post, tag, call, done = std::move(done)] {
    std::exception_ptr error;
    int sender = -1;
    try {
      sender = post->first->wait();
      ARGAND_CHECK(ValueError, post->header.group == group_ && post->header.tag == tag, "a message of group ",
                   post->header.group, " with tag ", post->header.tag, " and one of group ", group_, " with tag ", tag,
                   " cannot be told apart; use other tags");
      const uint32_t where = content_tag(post->header.number);
      const auto dtype = static_cast<uint64_t>(post->tensor.dtype());
      if (post->header.bytes == post->tensor.nbytes() && post->header.dtype == dtype) {
        transport_.receive(raw<void>(post->tensor), post->header.bytes, sender, where)->wait();
      } else {
        std::vector<char> unwanted(post->header.bytes);
        transport_.receive(unwanted.data(), unwanted.size(), sender, where)->wait();
        const auto sent = static_cast<ScalarType>(post->header.dtype);
        ARGAND_CHECK(DtypeError, post->header.dtype == dtype, call, ": rank ", sender, " of the world has sent ", sent);
        ARGAND_THROW(ShapeError, call, ": rank ", sender, " of the world has sent ",
                     post->header.bytes / static_cast<uint64_t>(element_size(sent)), " elements");
      }
    } catch (...) {
      error = std::current_exception();
    }
    done(error, sender);
  });
}

}  // namespace argand::parallel
