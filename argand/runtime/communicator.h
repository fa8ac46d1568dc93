// Collectives of a library between devices, for memory that is on them.  An engine registers itself under the name of
// its backend when its device's library is opened; argand/parallel knows it only here.
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

// How a collective joins the values of the ranks.
enum class ReduceKind : int8_t { kSum, kAvg, kProduct, kMin, kMax, kBand, kBor, kBxor, kPremulSum };

struct CommunicatorCall {
  enum class Kind : int8_t { kAllReduce, kReduce, kBroadcast, kAllGather, kReduceScatter, kSend, kReceive };
  Kind kind;
  const void* in;  // of kBroadcast on its root alone
  void* out;       // of kReduce on its root alone; may be `in`
  size_t count;    // elements: of `in` of kAllGather, of `out` of kReduceScatter
  ScalarType dtype;
  int peer = 0;  // the root, or the other end of a message
  ReduceKind reduce = ReduceKind::kSum;
};

// One rank's end.  Safe from any thread.
class Communicator {
 public:
  virtual ~Communicator() = default;  // its work is done, or it was aborted
  // Puts the calls together on the calling thread's current stream of the device.  All ranks must make matching calls
  // in one order.  Throws BackendError, and after an abort its reason.
  virtual void put(const std::vector<CommunicatorCall>& calls) = 0;
  // The error of work that was put there and failed later; null if none is known.
  virtual std::exception_ptr error() noexcept = 0;
  // Work that is under way ends, and leaves in its memory whatever is there.  Never waits for other ranks.  The first
  // call counts.
  virtual void abort(std::exception_ptr reason) noexcept = 0;
};

struct CommunicatorOptions {
  int rank = 0, size = 1;
  DeviceIndex device = 0;
  std::function<void()> look;  // called while others are waited for; throws to give up
};

// An engine; all functions are safe from any thread.
struct CommunicatorEngine {
  // Waits for all ranks.
  std::unique_ptr<Communicator> (*make)(Rendezvous&, const CommunicatorOptions&);
  // Whether values of this dtype can be joined so.
  bool (*takes)(ScalarType, ReduceKind);
  // Why none can be made here; empty if it can.
  std::string (*why_not)();
};
void register_communicator(const std::string& backend, const CommunicatorEngine& engine);
// Opens what it needs.  NotImplementedError, with the reason, if it cannot be used here.
const CommunicatorEngine& find_communicator(const std::string& backend);

}  // namespace argand
