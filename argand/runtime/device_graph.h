// Work of a stream, recorded once and issued as one call from then on.
#pragma once
#include <cstdint>

namespace argand {

using GraphPoolId = uint64_t;  // never 0

class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;  // gives up a recording that is under way
  // From here to end() the work of the calling thread's current stream is recorded and not run, and its allocations
  // come from the pool.  Error: the default stream, or a stream that is recorded already.
  virtual void begin(GraphPoolId pool) = 0;
  // Error: what was called in between cannot be recorded; the graph is then empty.
  virtual void end() = 0;
  // On the current stream.
  virtual void replay() = 0;
};

}  // namespace argand
