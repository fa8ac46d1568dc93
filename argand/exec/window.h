// Note [Issue window]
// Pointwise instructions on GPUs, and on large CPU tensors, may wait in a short in-order window, one per thread, and
// are issued together.  Consecutive instructions of one shape and place become one group.  On the CPU the tile
// interpreter runs the group tile by tile in cache; a GPU runs it as one kernel.  A temporary that only instructions of
// the group own never gets memory.  The results have the same bits as if each instruction ran at once.  Everything else
// flushes the window first: `StorageImpl::data()` of any storage that an instruction reads or writes, from any thread;
// an op that is not pointwise; kWindowInstructions or kWindowBytes.  An instruction that reads or writes exposed memory
// never waits, because the holder of the address may access it between any two calls.
//
// Note [Alias rule]
// An instruction may join a group only if every storage that it shares with a member (read after write, write after
// read, write after write) is accessed through the identical layout.  Then element i of every member depends on element
// i of the others only, and in-place ops and views need no special case.
#pragma once
#include <cstdint>

#include "argand/exec/pointwise.h"
#include "argand/runtime/backend.h"

namespace argand::exec {

inline constexpr int64_t kWindowMinElements = 16384;  // smaller CPU calls run at once
inline constexpr size_t kWindowInstructions = 64;
inline constexpr int64_t kWindowBytes = int64_t{256} << 20;   // of results not yet allocated
inline constexpr int64_t kGpuWindowBytes = int64_t{4} << 30;  // on a GPU

enum class WindowMode : int8_t {
  kAuto,    // wait where that is faster by measurement
  kEager,   // never wait
  kAlways,  // wait for any size: for tests
};
void set_window_mode(WindowMode mode);  // of the calling thread; flushes
WindowMode window_mode();

// Issues everything the calling thread has pending.
void flush();

// Counters of the calling thread's window since its start.
struct WindowStats {
  uint64_t instructions = 0;  // that waited
  uint64_t groups = 0;        // issued
  uint64_t flushes = 0;
  uint64_t elided = 0;  // results that never got memory
};
WindowStats window_stats();

// Counters of the calling thread's window, and of all work that the process issued to GPUs.
struct Stats {
  WindowStats window;
  IssueStats issue;
};
Stats stats();

// A joint of a training step, such as the end of a backward pass: the delayed work of the current GPU should be issued.
// Does nothing without a GPU.
void joint();
// A minor joint, such as the start of a backward pass: it issues only if the thread has waited for its GPU since the
// last joint, so that the GPU is idle.
void joint_if_idle();
// Notes that the thread has waited for all its work on a GPU.
void note_wait();

// Takes the call if it may wait; otherwise the caller runs it at once.  No input may partly overlap the output.
bool window_takes(const PointwiseCall& call);

// Writes scalar attributes as consecutive values of the compute type.
void pack_scalars(const Scalar* scalars, int n, ScalarType compute, char* params);

// For the fuzz tests only: leaves out a rule, to prove that the tests detect it.
enum class Mutant : int8_t {
  kNone,
  kNoReadAfterWrite,
  kNoWriteAfterRead,
  kNoWriteAfterWrite,
  kElideOwned,
  kKeepExposed,
  kReadExposedLate,
  kNoForeignFlush
};
void set_window_mutant(Mutant mutant);

}  // namespace argand::exec
