// How much memory of the CPU this process can have at most: what the machine has, what the limits of its cgroups allow
// (version 1 or 2, the innermost and all around it), and what is left of its addresses (RLIMIT_AS).
//
// Thread safety: all functions may be called from any thread.
#pragma once
#include <cstddef>
#include <string>

namespace argand {

// What nobody limits is SIZE_MAX.
struct MemoryLimits {
  size_t machine = SIZE_MAX;    // memory and space for swapping
  size_t cgroup = SIZE_MAX;     // the same, as far as the cgroups of the process may have it
  std::string cgroup_folder;    // where the limit stands
  size_t addresses = SIZE_MAX;  // RLIMIT_AS
  size_t addresses_used = 0;    // known where there is that limit
};

// As things are now; reads some files.  `root` is put before their paths, for tests.
MemoryLimits read_memory_limits(const std::string& root = "");

// Bytes that a block may have.  The machine's and the cgroup's are read once, and again when more is wanted; those of
// addresses each time.
size_t most_memory(size_t wanted);

// Blocks of up to so many bytes are allocated without asking for the limits first, which would cost too much.
inline constexpr size_t kAlwaysTried = size_t{16} << 20;

// The limits as text for an error: "memory and swap of the machine: 16.00 GiB; ...".
std::string memory_limits_text(const MemoryLimits& limits);

}  // namespace argand
