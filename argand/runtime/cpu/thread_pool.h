// The CPU's threads.  One pool per process; the calling thread always takes part in the work.
//
// Determinism: the chunks of a parallel_for depend on the range and the grain only, never on the number of threads or
// on timing.  A reduction that keeps one partial result per chunk, and adds them in order, is the same bits on any
// machine.
#pragma once
#include <cstdint>

#include "argand/base/function_ref.h"

namespace argand {

namespace detail {
void parallel_for_chunks(int64_t begin, int64_t end, int64_t grain, const function_ref<void(int64_t, int64_t)>& body);
}

// Calls body(b, e) for the chunks [begin, begin + grain), [begin + grain, begin + 2 grain), ... of [begin, end); the
// last one may be shorter.  A grain below 1 counts as 1.  Returns when all chunks are done. Runs in the calling thread,
// without synchronisation, if there is one chunk or one thread, inside another parallel region, in a forked child, and
// while another thread uses the pool. If chunks throw, the exception of the lowest throwing chunk is rethrown here;
// chunks not yet begun are dropped. Thread safety: may be called from any number of threads.
inline void parallel_for(int64_t begin, int64_t end, int64_t grain, const function_ref<void(int64_t, int64_t)>& body) {
  if (begin >= end) return;
  if (end - begin <= grain) {
    body(begin, end);
  } else {
    detail::parallel_for_chunks(begin, end, grain, body);
  }
}

// How many threads a parallel region may use, the caller included.  At first ARGAND_NUM_THREADS, else OMP_NUM_THREADS,
// else the number of processors this process may run on.
int get_num_threads();

// Applies to the regions that start after the call.  Throws ValueError unless 1 <= count <= 65535.
void set_num_threads(int count);

// True inside the body of a parallel_for that was spread over threads.
bool in_parallel_region();

// Which of the threads of such a region this is, below get_num_threads() as it was when the region started; its caller
// is 0, and so is every thread outside.  A thread has another number in the next region.
int get_thread_num();

}  // namespace argand
