// Note [Launch tape]
// Work for a stream is not issued at once but put on the stream's tape, and a run of it, a window, is issued together.
// A window whose kernels, grids and library calls equal those of one issued before is launched as one CUDA graph: a
// launch of its own costs the host 2.3 us and the device 2.5 us, a node of a graph next to nothing and 0.9 us.  What
// differs from time to time, addresses and numbers among the arguments of kernels, is set in the graph's nodes, 0.2 us
// each.  So an ordinary training loop becomes a few graph launches a step, with no change of meaning and no annotation.
//
// Why this is safe: the host has done all else when work is put on a tape.  Memory is given and taken in the order of
// the stream, and so is what is on its tape; whatever lets anybody else see the stream (waiting, events, copies from
// and to the host, memory that leaves for the driver or for another stream, an address or a stream handle that leaves
// the library) issues the tape first.  Work that may touch memory whose address has left the library is issued with all
// that is before it as soon as it is put there, since the holder of the address may look at any time.
//
// A graph that cannot be built, set or launched is given up, and its work is issued one by one.  Where that fails, too,
// the rest of the window is lost, and the device is told which arguments it had (Note [Lost writes]).
//
// Windows end there, at the joint of a training step (after the backward pass, and before it if the device has nothing
// to do; the optimizer's step goes with the next forward pass), with work that keeps the device busy for a while
// anyway, and when they are full.
//
// Note [Epilogues]
// An activation that follows a kernel, or its backward op, is often all that is done with the kernel's result, and
// takes as long as writing the result: to read it, and write another.  A kernel that can do it on the way has an
// Epilogue as its last parameter (epilogue.cuh), empty when it is put on the tape.  Then, if the next work is such an
// op on exactly what the kernel writes, the op becomes the kernel's epilogue instead of work of its own.  The result
// itself is then only stored if somebody may still look at it.  The call of a library can be such a kernel too, if it
// then does the rest to the bit as before: TakeEpilogue makes another call of it.  Nothing that the epilogue writes may
// be what the kernel reads: memory that was given back since may have come back as the op's result.  If nobody looks at
// the kernel's result, the op's is put in its place, which is never so.  A kernel that keeps the device busy for a
// while waits for the next work if it can do this.
//
// This file knows nothing of CUDA, so that a test can stand in for the device.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "argand/core/dtype.h"
#include "argand/runtime/backend.h"
#include "argand/runtime/cuda/epilogue.cuh"
#include "argand/runtime/cuda/grid.h"

namespace argand::cuda {

// Where the arguments of a kernel lie among their bytes.
struct KernelParameters {
  std::vector<uint32_t> offsets, sizes;
  uint32_t nbytes = 0;
};

// Issues a call of a library: `data` says all of it.
using IssueCall = void (*)(const void* data, void* stream);
// Makes an epilogue part of a call that has not been issued; false: it cannot be, and nothing has changed.
using TakeEpilogue = bool (*)(void* data, const Epilogue<void>& epilogue);

// A kernel, or a call.
struct TapeRecord {
  const char* op;
  const void* function;  // null: a call
  const KernelParameters* parameters;
  Grid grid;
  IssueCall call;
  uint32_t at, nbytes;  // its bytes: arguments, or the call's data
};
using TapeBytes = std::vector<char>;

struct MemoryRange {
  const void* data;
  size_t nbytes;
};
// What a kernel with an epilogue (Note [Epilogues]) works on.
struct EpilogueSlot {
  const void* result;  // `numel` elements side by side
  int64_t numel;
  ScalarType dtype;
  size_t alignment;             // of what the epilogue reads and writes
  MemoryRange others[4];        // all else that the kernel reads or writes
  TakeEpilogue take = nullptr;  // a call's
};
// An op that may become one.
struct EpilogueOp {
  const void* in;  // `numel` elements side by side, as all its operands
  int64_t numel;
  ScalarType dtype;
  Epilogue<void> argument;
};

// A window as one piece of work.
class LaunchGraph {
 public:
  virtual ~LaunchGraph() = default;
  virtual void set_arguments(size_t record, const TapeRecord& kernel, const char* bytes) = 0;
  virtual void launch() = 0;
};

// What issues; all functions may throw but the last two.
class LaunchDevice {
 public:
  virtual ~LaunchDevice() = default;
  virtual void issue(const TapeRecord& record, const char* bytes) = 0;
  // Null if the window holds something that no graph can.  Issues nothing.
  virtual std::unique_ptr<LaunchGraph> build(const std::vector<TapeRecord>& records, const char* bytes) = 0;
  // Whether any 8 bytes of these are an address in memory that others may look at.
  virtual bool touches_exposed(const char* /*bytes*/, size_t /*nbytes*/) { return false; }
  // These were never issued, because of `why`.
  virtual void lost(std::span<const TapeRecord> /*records*/, const char* /*bytes*/, std::exception_ptr /*why*/) {}
};

// Thread-safe.
class LaunchTape {
 public:
  explicit LaunchTape(LaunchDevice& device) : device_(device) {}

  // With a slot, the last parameter is an Epilogue, all zero.
  void add_kernel(const char* op, const void* function, const KernelParameters& parameters, const Grid& grid,
                  void* const* arguments, const EpilogueSlot* slot = nullptr);
  // The slot, if any, has `take`.
  void add_call(const char* op, IssueCall call, const void* data, size_t nbytes, bool long_work,
                const EpilogueSlot* slot = nullptr);
  // Whether the last kernel does this now; false: nothing has changed.
  bool add_epilogue(const EpilogueOp& op);
  // Issues what is there; throws what issuing throws, and the rest of the window is then lost, as the device is told.
  void flush(FlushCause cause);
  // Without holding back everything is issued at once; flushes.  From without to with, what went before is forgotten.
  void hold_back(bool on);
  // Drops all graphs; flushes.
  void forget_graphs();
  IssueStats stats() const;

 private:
  struct Known {
    TapeBytes key, bytes;  // of the graph's arguments as they are
    int seen = 0;
    bool refused = false;
    std::unique_ptr<LaunchGraph> graph;
  };

  void add(const TapeRecord& record, bool long_work, const EpilogueSlot* slot);
  void append_call();
  void issue_long_work();
  void issue_window(FlushCause cause);
  bool is_exposed(const TapeRecord& r) { return device_.touches_exposed(bytes_.data() + r.at, (r.nbytes + 7) / 8 * 8); }
  bool replay();
  bool launch(Known& known);
  void update(Known& known);
  void append_key(const void* data, size_t nbytes);

  LaunchDevice& device_;
  mutable std::mutex mutex_;
  bool holds_back_ = true;
  int resting_ = 0;          // launches to let through before trying again
  int windows_in_vain_ = 0;  // since the last replay
  std::vector<TapeRecord> records_;
  TapeBytes key_;  // what must be equal for a graph to fit
  uint64_t hash_ = 0;
  TapeBytes bytes_;        // of all records
  size_t key_before_ = 0;  // the last record
  uint64_t hash_before_ = 0;
  EpilogueSlot slot_;
  bool has_slot_ = false;   // of the last record
  bool long_work_ = false;  // the last record is, and has a slot
  std::unordered_map<uint64_t, Known> known_;
  IssueStats stats_;
};

}  // namespace argand::cuda
