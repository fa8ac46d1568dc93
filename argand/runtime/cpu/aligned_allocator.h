// Memory of CPU tensors: blocks aligned to 64 bytes (a cache line, an AVX-512 register), never initialised.
//
// Freed blocks are kept for reuse: small ones by the thread that freed them (a few nanoseconds an allocation), large
// ones in a pool of the process, because the page faults of fresh memory cost more than most tensor operations.  The
// pool holds at most an eighth of the machine's memory (and at most 4 GiB); the block unused for longest leaves first.
// Sanitizer builds keep nothing, so that a use after free is seen.
//
// Thread safety: all functions may be called from any thread; a block may be freed by another thread than allocated it.
#pragma once
#include <cstddef>

namespace argand {

inline constexpr size_t kAllocationAlignment = 64;

// Null if bytes is 0.  Throws OutOfMemoryError, after giving back all kept blocks and trying again.
void* allocate_aligned(size_t bytes);

// OutOfMemoryError if a block of so many bytes cannot be allocated at present (memory_limits.h); allocates nothing.
// Cached blocks are available whatever the limits are.
void ask_for_memory(size_t bytes);

// `bytes` is the size that was asked for.  Null is allowed.
void deallocate_aligned(void* block, size_t bytes) noexcept;

// Gives the kept blocks of the pool and of the calling thread back to the system.
void release_cached_memory() noexcept;

}  // namespace argand
