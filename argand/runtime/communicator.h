// Collectives of a communication library, for memory on devices.  An engine registers itself under the name of its
// backend when its device's library is opened; argand/parallel uses it through this interface only.
#pragma once
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "argand/core/device.h"
#include "argand/core/dtype.h"
#include "argand/runtime/transport.h"

namespace argand {

// How a collective combines the values of the ranks.
enum class CollectiveReduce : int8_t { kSum, kAvg, kProduct, kMin, kMax, kBand, kBor, kBxor, kPremulSum };

struct CommunicatorCall {
  enum class Kind : int8_t { kAllReduce, kReduce, kBroadcast, kAllGather, kReduceScatter, kSend, kReceive };
  Kind kind;
  const void* in;  // for kBroadcast: on its root only
  void* out;       // for kReduce: on its root only; may be `in`
  size_t count;    // elements: of `in` of kAllGather, of `out` of kReduceScatter
  ScalarType dtype;
  int peer = 0;  // the root, or the other end of a message
  CollectiveReduce reduce = CollectiveReduce::kSum;
};

// The communicator of one rank.  Thread-safe.
class Communicator {
 public:
  virtual ~Communicator() = default;  // its work is done, or it was aborted
  // Issues the calls together on the calling thread's current stream of the device.  All ranks must make matching calls
  // in the same order.  Throws BackendError, and after an abort its reason.
  virtual void put(const std::vector<CommunicatorCall>& calls) = 0;
  // The error of work that was issued and failed later; null if none is known.
  virtual std::exception_ptr error() noexcept = 0;
  // Ends running work, whose memory then has unspecified contents.  Never waits for other ranks.  Only the first call
  // counts.
  virtual void abort(std::exception_ptr reason) noexcept = 0;
};

struct CommunicatorOptions {
  int rank = 0, size = 1;
  DeviceIndex device = 0;
  std::function<void()> look;  // called while waiting for other ranks; throws to give up
};

// An engine; all functions are thread-safe.
struct CommunicatorEngine {
  // Waits for all ranks.
  std::unique_ptr<Communicator> (*make)(Rendezvous&, const CommunicatorOptions&);
  // Whether values of this dtype can be combined in this way.
  bool (*takes)(ScalarType, CollectiveReduce);
  // Why no communicator can be made here; empty if one can.
  std::string (*why_not)();
};
void register_communicator(const std::string& backend, const CommunicatorEngine& engine);
// Opens the libraries that it needs.  NotImplementedError, with the reason, if it cannot be used here.
const CommunicatorEngine& find_communicator(const std::string& backend);

}  // namespace argand
