// The engine of the backend "nccl".
//
// Note [NCCL communicators]
// NCCL communicators are blocking: a nonblocking one starts a thread for each collective, which takes longer than a
// small collective itself (docs/results.md has figures).  So a thread that waits for other ranks inside of NCCL cannot
// look up by itself.
//   The start waits for all ranks.  So the communicator that starts is a nonblocking one, which is polled and can be
// given up, and the blocking one is split from it, which is polled, too.
//   A collective waits for other ranks on the host only when it is the first to use a connection, and where the queue
// of launches is full.  abort() gives the thread that is inside of NCCL a moment to leave, and then calls
// ncclCommAbort() beside it, which ends its wait.  From then on that thread must not touch the communicator.
//   NCCL_COMM_BLOCKING=0 makes the communicators nonblocking all the same; their calls are polled until they are done.
//   A collective is not part of the graphs that a launch tape makes (Note [Launch tape]).  Each rank decides for itself
// when a window has become a graph, and NCCL may need all ranks to capture a collective if one does.  A capture that
// the program began contains them, as in PyTorch, since all ranks then run the same program.
#include "argand/runtime/cuda/nccl_library.h"

#if ARGAND_NCCL

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "argand/runtime/communicator.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/on_device.h"
#include "argand/runtime/cuda/stream_tapes.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {
namespace {

using Kind = CommunicatorCall::Kind;

const NcclLibrary& api() { return *find_nccl(); }

// Values of two numbers (complex) are combined number by number.
struct Numbers {
  ncclDataType_t type;
  size_t each;  // of a value
};
bool find_numbers(ScalarType dtype, Numbers& found) {
  switch (dtype) {
    case kByte:
      found = {ncclUint8, 1};
      return true;
    case kChar:
      found = {ncclInt8, 1};
      return true;
    case kInt:
      found = {ncclInt32, 1};
      return true;
    case kLong:
      found = {ncclInt64, 1};
      return true;
    case kHalf:
      found = {ncclFloat16, 1};
      return true;
    case kBFloat16:
      found = {ncclBfloat16, 1};
      return true;
    case kFloat:
      found = {ncclFloat32, 1};
      return true;
    case kDouble:
      found = {ncclFloat64, 1};
      return true;
    case kComplexFloat:
      found = {ncclFloat32, 2};
      return true;
    case kComplexDouble:
      found = {ncclFloat64, 2};
      return true;
    default:
      return false;
  }
}

bool takes(ScalarType dtype, CollectiveReduce reduce) {
  Numbers numbers{};
  if (!find_numbers(dtype, numbers)) return false;
  switch (reduce) {
    case CollectiveReduce::kSum:
      return true;
    case CollectiveReduce::kAvg:
      return is_floating_point(dtype) || is_complex(dtype);
    case CollectiveReduce::kProduct:
    case CollectiveReduce::kMin:
    case CollectiveReduce::kMax:
      return numbers.each == 1;
    default:
      return false;
  }
}

ncclRedOp_t operation(CollectiveReduce reduce) {
  switch (reduce) {
    case CollectiveReduce::kAvg:
      return ncclAvg;
    case CollectiveReduce::kProduct:
      return ncclProd;
    case CollectiveReduce::kMin:
      return ncclMin;
    case CollectiveReduce::kMax:
      return ncclMax;
    default:
      return ncclSum;
  }
}

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(Rendezvous& rendezvous, const CommunicatorOptions& options) : device_(options.device) {
    const OnDevice on(device_);
    ncclUniqueId id;
    if (options.rank == 0) {
      check(api().get_unique_id(&id), "ncclGetUniqueId");
      rendezvous.set("nccl", std::string(id.internal, sizeof id.internal));
    } else {
      const std::string text = rendezvous.get("nccl");
      ARGAND_CHECK(BackendError, text.size() == sizeof id.internal, "the store holds no id of NCCL, but ", text.size(),
                   " bytes");
      std::memcpy(id.internal, text.data(), sizeof id.internal);
    }
    const CallsThatMakeGlobals calls;
    try {
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      config.blocking = 0;
      settle(starter_, api().init_rank(&starter_, options.size, id, options.rank, &config), "ncclCommInitRankConfig",
             options.look);
      split(options);
    } catch (...) {
      abort(std::current_exception());
      throw;
    }
  }

  ~NcclCommunicator() override {
    if (aborted_) return;
    // NCCL would wait for the end of every graph that has captured a collective, which may outlive the group: the
    // communicator then stays as long as the process.
    if (captured_) return;
    const OnDevice on(device_);
    const std::lock_guard lock(mutex_);
    try {
      for (ncclComm_t* c : {&communicator_, &starter_}) {
        settle(*c, api().finalize(*c), "ncclCommFinalize");
        api().destroy(*c);
        *c = nullptr;
      }
    } catch (const Error&) {
      if (!aborted_) abort_all();
    }
  }

  void put(const std::vector<CommunicatorCall>& calls) override {
    const OnDevice on(device_);
    const cudaStream_t stream = current_stream(device_);
    issue_tape(device_, stream, FlushCause::kForeign);
    const std::lock_guard lock(mutex_);
    throw_if_aborted();
    cudaStreamCaptureStatus capture{};
    ARGAND_CUDA(cudaStreamIsCapturing(stream, &capture));
    captured_ = captured_ || capture != cudaStreamCaptureStatusNone;
    check(api().group_start(), "ncclGroupStart");
    ncclResult_t result = ncclSuccess;
    for (const CommunicatorCall& c : calls)
      if (result == ncclSuccess || result == ncclInProgress) result = issue(c, stream);
    const ncclResult_t end = api().group_end();
    throw_if_aborted();
    check(result, "a collective");
    settle(communicator_, end, "ncclGroupEnd");
  }

  std::exception_ptr error() noexcept override {
    try {
      const std::unique_lock lock(mutex_, std::try_to_lock);
      if (!lock || aborted_) return nullptr;  // who holds it sees errors itself
      ncclResult_t state = ncclSuccess;
      check(api().get_async_error(communicator_, &state), "ncclCommGetAsyncError");
      check(state, "a collective");
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  void abort(std::exception_ptr reason) noexcept override {
    {
      const std::lock_guard lock(reason_mutex_);
      if (aborted_) return;
      reason_ = std::move(reason);
      aborted_ = true;  // ends settle() of other threads
    }
    const OnDevice on(device_);
    const std::unique_lock lock(mutex_, kLeave);  // without it, a thread waits inside of NCCL: this ends its wait
    abort_all();
  }

 private:
  void abort_all() noexcept {
    const ncclComm_t split = communicator_;
    if (split) api().abort(split);  // first, because freeing the other waits for its kernels
    if (starter_) api().abort(starter_);
    if (communicator_ && !split) api().abort(communicator_);  // a split that was under way
  }

  void throw_if_aborted() {
    if (!aborted_) return;
    const std::lock_guard lock(reason_mutex_);
    std::rethrow_exception(reason_);
  }

  static void check(ncclResult_t result, const char* what) {
    if (result == ncclSuccess || result == ncclInProgress) return;
    const char* const more = api().get_last_error(nullptr);  // of the process, whatever the communicator
    ARGAND_THROW(BackendError, "NCCL: ", what, ": ", api().get_error_string(result), more && *more ? ": " : "",
                 more ? more : "");
  }

  // Waits for a call of a nonblocking communicator, which the call may have set.
  void settle(const ncclComm_t& communicator, ncclResult_t result, const char* what,
              const std::function<void()>& look = nullptr) {
    // A thread of NCCL puts a collective on its stream, which takes less time than waking from a short sleep.
    constexpr std::chrono::microseconds spin(500), rest(20000);
    const auto begin = std::chrono::steady_clock::now();
    while (check(result, what), result == ncclInProgress) {
      throw_if_aborted();
      const auto passed = std::chrono::steady_clock::now() - begin;
      if (passed < spin) {
        std::this_thread::yield();
      } else {
        if (look) look();
        std::this_thread::sleep_for(std::chrono::microseconds(passed < rest ? 20 : 1000));
      }
      check(api().get_async_error(communicator, &result), "ncclCommGetAsyncError");
    }
  }

  void split(const CommunicatorOptions& options) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 1;
    check(api().split(starter_, 0, options.rank, &communicator_, &config), "ncclCommSplit");
    // The call is one of the nonblocking communicator: the result is there when that one is idle again.
    settle(starter_, ncclInProgress, "ncclCommSplit", options.look);
    ARGAND_CHECK(BackendError, communicator_, "NCCL: ncclCommSplit made no communicator");
    settle(communicator_, ncclInProgress, "ncclCommSplit", options.look);
  }

  ncclResult_t issue(const CommunicatorCall& c, cudaStream_t stream) {
    Numbers numbers{ncclUint8, static_cast<size_t>(element_size(c.dtype))};  // what is only moved
    if (c.kind == Kind::kAllReduce || c.kind == Kind::kReduce || c.kind == Kind::kReduceScatter)
      find_numbers(c.dtype, numbers);
    const size_t n = c.count * numbers.each;
    const ncclRedOp_t op = operation(c.reduce);
    switch (c.kind) {
      case Kind::kAllReduce:
        return api().all_reduce(c.in, c.out, n, numbers.type, op, communicator_, stream);
      case Kind::kReduce:
        return api().reduce(c.in, c.out, n, numbers.type, op, c.peer, communicator_, stream);
      case Kind::kBroadcast:
        return api().broadcast(c.in, c.out, n, numbers.type, c.peer, communicator_, stream);
      case Kind::kAllGather:
        return api().all_gather(c.in, c.out, n, numbers.type, communicator_, stream);
      case Kind::kReduceScatter:
        return api().reduce_scatter(c.in, c.out, n, numbers.type, op, communicator_, stream);
      case Kind::kSend:
        return api().send(c.in, n, numbers.type, c.peer, communicator_, stream);
      case Kind::kReceive:
        return api().receive(c.out, n, numbers.type, c.peer, communicator_, stream);
    }
    return ncclInvalidArgument;
  }

  static constexpr std::chrono::milliseconds kLeave{100};

  const int device_;
  std::timed_mutex mutex_;  // of the communicator
  ncclComm_t starter_ = nullptr;
  ncclComm_t communicator_ = nullptr;  // split from it
  bool captured_ = false;              // a graph holds collectives of it
  std::mutex reason_mutex_;
  std::exception_ptr reason_;
  std::atomic<bool> aborted_{false};
};

}  // namespace

void register_nccl() {
  register_communicator(
      "nccl", {[](Rendezvous& rendezvous, const CommunicatorOptions& options) -> std::unique_ptr<Communicator> {
                 return std::make_unique<NcclCommunicator>(rendezvous, options);
               },
               &takes,
               [] {
                 std::string why;
                 if (dry_run()) return std::string("a dry run has no GPUs to join");
                 find_nccl(&why);
                 return why;
               }});
}

}  // namespace argand::cuda

#else

#include "argand/runtime/communicator.h"

namespace argand::cuda {

void register_nccl() {
  register_communicator("nccl", {nullptr, nullptr, [] { return std::string("this build was made without NCCL"); }});
}

}  // namespace argand::cuda

#endif
