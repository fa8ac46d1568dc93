#include "argand/runtime/cpu/memory_limits.h"

#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>

#include "argand/base/str.h"

namespace argand {
namespace {

constexpr size_t kNone = SIZE_MAX;
constexpr size_t kUnlimited = size_t{1} << 60;  // version 1 says it by a number beyond any memory

size_t sum(size_t a, size_t b) { return a > kNone - b ? kNone : a + b; }

// The number in a file; nothing if there is no such file, or if it contains "max".
size_t limit_in(const std::string& path) {
  std::ifstream file(path);
  size_t value = 0;
  return file >> value && value < kUnlimited ? value : kNone;
}

struct Machine {
  size_t memory = kNone, swap = 0;
};
Machine machine() {
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return {};
  return {size_t{info.totalram} * info.mem_unit, size_t{info.totalswap} * info.mem_unit};
}

// One kind of cgroups: its folder, and the files in it.
struct Hierarchy {
  std::string folder, memory, swap, both;
};
const Hierarchy kVersion2 = {"/sys/fs/cgroup", "memory.max", "memory.swap.max", ""};
const Hierarchy kVersion1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "", "memory.memsw.limit_in_bytes"};

size_t limit_of(const std::string& folder, const Hierarchy& files, size_t swap) {
  const size_t memory = limit_in(folder + "/" + files.memory);
  if (memory == kNone) return kNone;
  if (!files.both.empty()) return std::min(sum(memory, swap), limit_in(folder + "/" + files.both));
  return sum(memory, std::min(swap, limit_in(folder + "/" + files.swap)));
}

// The smallest limit from the process's cgroup to the outermost.  In a container the path may be the host's, of which
// only the last part exists.
void take_smallest(const std::string& root, std::string path, const Hierarchy& files, size_t swap, MemoryLimits& out) {
  while (true) {
    const std::string folder = files.folder + (path == "/" ? "" : path);
    const size_t limit = limit_of(root + folder, files, swap);
    if (limit < out.cgroup) {
      out.cgroup = limit;
      out.cgroup_folder = folder;
    }
    if (path.empty() || path == "/") return;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

// Lines "4:cpu,memory:/path" of version 1, "0::/path" of version 2.
void read_cgroups(const std::string& root, size_t swap, MemoryLimits& out) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",",
                      path = line.substr(second + 1);
    if (controllers == ",,") take_smallest(root, path, kVersion2, swap, out);
    if (controllers.find(",memory,") != std::string::npos) take_smallest(root, path, kVersion1, swap, out);
  }
}

size_t limit_of_addresses() {
  struct rlimit limit {};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? size_t{limit.rlim_cur} : kNone;
}

size_t used_addresses() {
  std::ifstream file("/proc/self/statm");
  size_t pages = 0;
  file >> pages;
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

std::string bytes_text(size_t bytes) {
  constexpr double kMiB = 1 << 20, kGiB = 1 << 30;
  char text[32];
  const auto value = static_cast<double>(bytes);
  std::snprintf(text, sizeof text, value < kGiB ? "%.2f MiB" : "%.2f GiB", value / (value < kGiB ? kMiB : kGiB));
  return text;
}

}  // namespace

MemoryLimits read_memory_limits(const std::string& root) {
  MemoryLimits out;
  const Machine here = machine();
  out.machine = sum(here.memory, here.swap);
  read_cgroups(root, here.swap, out);
  out.addresses = limit_of_addresses();
  if (out.addresses != kNone) out.addresses_used = used_addresses();
  return out;
}

size_t most_memory(size_t wanted) {
  static std::atomic<size_t> known{0};
  size_t most = known.load(std::memory_order_relaxed);
  if (most == 0 || wanted > most) {
    const MemoryLimits now = read_memory_limits();
    most = std::min(now.machine, now.cgroup);
    known.store(most, std::memory_order_relaxed);
  }
  const size_t addresses = limit_of_addresses();
  if (addresses == kNone) return most;
  const size_t used = used_addresses();
  return std::min(most, addresses - std::min(addresses, used));
}

std::string memory_limits_text(const MemoryLimits& limits) {
  std::string out = str("memory and swap of the machine: ", bytes_text(limits.machine));
  if (limits.cgroup != kNone) out += str("; limit of ", limits.cgroup_folder, ": ", bytes_text(limits.cgroup));
  if (limits.addresses != kNone)
    out += str("; limit of addresses (RLIMIT_AS): ", bytes_text(limits.addresses), ", of which ",
               bytes_text(limits.addresses_used), " are in use");
  return out;
}

}  // namespace argand
