// Note [Launch tape]
// Work for a stream is not issued at once but put on the stream's tape.  A sequence of it, a window, is issued
// together. A window whose kernels, grids and library calls equal those of an earlier one is launched as one CUDA
// graph: a single launch costs the host 2.3 us and the device 2.5 us, a node of a graph almost nothing and 0.9 us.  The
// addresses and numbers among the arguments of kernels that differ are set in the graph's nodes, 0.2 us each.  So an
// ordinary training loop becomes a few graph launches a step, with the same results and without annotations.
//
// Why this is safe: when work is put on a tape, only its launch is delayed.  Memory is allocated and freed in the order
// of the stream, which is also the order of the tape.  Everything that lets others observe the stream (waiting, events,
// copies from and to the host, memory that goes to the driver or to another stream, an address or a stream handle that
// leaves the library) issues the tape first.  Work that may touch memory whose address has left the library is issued
// at once, with all work before it, since the holder of the address may access the memory at any time.
//
// A graph that cannot be built, set or launched is dropped, and its work is issued one by one.  If that fails, too, the
// rest of the window is lost, and the device is told its arguments (Note [Lost writes]).
//
// Windows also end at the joint of a training step (after the backward pass, and before it if the device is idle; the
// optimizer's step belongs to the next forward pass), after work that keeps the device busy for a while, and when they
// are full.
//
// Note [Epilogues]
// An activation, or its backward op, is often the only use of a kernel's result, and as a kernel of its own it reads
// and writes memory again.  A kernel that can compute it before it stores its result has an Epilogue as its last
// parameter (epilogue.cuh), which is empty when the kernel is put on the tape.  If the next work is such an op on
// exactly what the kernel writes, the op becomes the kernel's epilogue.  The kernel's own result is then stored only if
// something may still read it.  A library call can take an epilogue too, if the bits stay the same: TakeEpilogue
// replaces it by another call.  The epilogue must not write what the kernel reads: memory that was freed since may have
// been reused for the op's result.  If nothing reads the kernel's own result, the op's result takes its place in
// memory, which the kernel never reads.  A kernel that keeps the device busy for a while is delayed until the next work
// if it can take an epilogue.
//
// This file does not depend on CUDA, so that a test can replace the device.
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

// The offsets of a kernel's arguments in their bytes.
struct KernelParameters {
  std::vector<uint32_t> offsets, sizes;
  uint32_t nbytes = 0;
};

// Issues a library call: `data` holds all its arguments.
using IssueCall = void (*)(const void* data, void* stream);
// Makes an epilogue part of a call that has not been issued; false: that is not possible, and nothing has changed.
using TakeEpilogue = bool (*)(void* data, const Epilogue<void>& epilogue);

// A kernel, or a library call.
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
// The memory that a kernel with an epilogue (Note [Epilogues]) uses.
struct EpilogueSlot {
  const void* result;  // `numel` contiguous elements
  int64_t numel;
  ScalarType dtype;
  size_t alignment;             // of what the epilogue reads and writes
  MemoryRange others[4];        // all else that the kernel reads or writes
  TakeEpilogue take = nullptr;  // a call's
};
// An op that may become an epilogue.
struct EpilogueOp {
  const void* in;  // `numel` contiguous elements, as are all its operands
  int64_t numel;
  ScalarType dtype;
  Epilogue<void> argument;
};

// A window as a graph.
class LaunchGraph {
 public:
  virtual ~LaunchGraph() = default;
  virtual void set_arguments(size_t record, const TapeRecord& kernel, const char* bytes) = 0;
  virtual void launch() = 0;
};

// Issues the work; all functions but the last two may throw.
class LaunchDevice {
 public:
  virtual ~LaunchDevice() = default;
  virtual void issue(const TapeRecord& record, const char* bytes) = 0;
  // Null if a graph cannot hold all work of the window.  Issues nothing.
  virtual std::unique_ptr<LaunchGraph> build(const std::vector<TapeRecord>& records, const char* bytes) = 0;
  // Whether any 8 bytes of these are an address in exposed memory.
  virtual bool touches_exposed(const char* /*bytes*/, size_t /*nbytes*/) { return false; }
  // These records were never issued, because of `why`.
  virtual void lost(std::span<const TapeRecord> /*records*/, const char* /*bytes*/, std::exception_ptr /*why*/) {}
};

// Thread-safe.
class LaunchTape {
 public:
  explicit LaunchTape(LaunchDevice& device) : device_(device) {}

  // With a slot, the kernel's last parameter is an Epilogue, all zero.
  void add_kernel(const char* op, const void* function, const KernelParameters& parameters, const Grid& grid,
                  void* const* arguments, const EpilogueSlot* slot = nullptr);
  // The slot, if any, has `take`.
  void add_call(const char* op, IssueCall call, const void* data, size_t nbytes, bool long_work,
                const EpilogueSlot* slot = nullptr);
  // Makes the op the epilogue of the last kernel if possible; false: nothing has changed.
  bool add_epilogue(const EpilogueOp& op);
  // Issues the window.  If that throws, the rest of the window is lost, the device is told, and the exception
  // propagates.
  void flush(FlushCause cause);
  // Whether to delay work; flushes.  If off, everything is issued at once.  Switching it on tries graphs again, even if
  // none fitted before.
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
  int resting_ = 0;          // launches to issue before trying again
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
