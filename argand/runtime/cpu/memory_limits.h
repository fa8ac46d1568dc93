// How much CPU memory this process can have at most: the machine's memory, the limits of its cgroups (version 1 or 2,
// the innermost and all that enclose it), and the rest of its address space (RLIMIT_AS).
//
// Thread safety: all functions may be called from any thread.
#pragma once
#include <cstddef>
#include <string>

namespace argand {

// SIZE_MAX: no limit.
struct MemoryLimits {
  size_t machine = SIZE_MAX;    // memory and swap space
  size_t cgroup = SIZE_MAX;     // the same, as limited by the cgroups of the process
  std::string cgroup_folder;    // the cgroup with the limit
  size_t addresses = SIZE_MAX;  // RLIMIT_AS
  size_t addresses_used = 0;    // known if there is that limit
};

// Reads the present limits from some files.  `root` is put before their paths, for tests.
MemoryLimits read_memory_limits(const std::string& root = "");

// The bytes that a block may have.  Limits of the machine and the cgroup are read once, and again if more is wanted;
// that of addresses each time.
size_t most_memory(size_t wanted);

// Blocks of up to so many bytes are allocated without reading the limits first, which would cost too much.
inline constexpr size_t kAlwaysTried = size_t{16} << 20;

// The limits as text for an error: "memory and swap of the machine: 16.00 GiB; ...".
std::string memory_limits_text(const MemoryLimits& limits);

}  // namespace argand
