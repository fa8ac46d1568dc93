// Work of a stream that is recorded once and then issued again as one call.
#pragma once
#include <cstdint>

namespace argand {

using GraphPoolId = uint64_t;  // never 0

class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;  // discards an unfinished recording
  // From here to end() the work of the calling thread's current stream is recorded and not run, and its allocations
  // come from the pool.  Error for the default stream, or a stream that is recorded already.
  virtual void begin(GraphPoolId pool) = 0;
  // Error if a call in between cannot be recorded; the graph is then empty.
  virtual void end() = 0;
  // Issues the work on the current stream.
  virtual void replay() = 0;
};

}  // namespace argand
