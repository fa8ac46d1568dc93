#include "argand/exec/cuda/host_program.h"

#include <algorithm>
#include <map>

#include "argand/kernels/cpu/tile.h"
#include "argand/runtime/backend.h"

namespace argand::exec {
namespace {

// The bytes between the first and the last element of values that share an address.
struct Range {
  int64_t begin = 0, end = 0;
  bool stored = false;
  std::vector<char> host;
};

void widen(Range& r, const ProgramValue& v, const Dims& sizes) {
  int64_t first = 0, last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) (v.strides[d] < 0 ? first : last) += (sizes[d] - 1) * v.strides[d];
  r.begin = std::min(r.begin, first * element_size(v.dtype));
  r.end = std::max(r.end, (last + 1) * element_size(v.dtype));
  r.stored |= v.store;
}

}  // namespace

void run_on_host(PointwiseProgram program) {
  Backend& backend = backend_of(kCUDA);
  const Device device(kCUDA, backend.current_device());
  std::map<void*, Range> ranges;
  for (const ProgramValue& v : program.values)
    if (v.memory && !v.number) widen(ranges[v.memory], v, program.sizes);
  for (auto& [address, r] : ranges) {
    r.host.resize(static_cast<size_t>(r.end - r.begin));
    backend.copy(r.host.data(), kCPU, static_cast<char*>(address) + r.begin, device, r.host.size(), false);
  }
  for (ProgramValue& v : program.values) {
    if (v.memory && !v.number) {
      Range& r = ranges[v.memory];
      v.memory = r.host.data() - r.begin;
    }
    v.number = false;
  }
  cpu::run_tiles(std::move(program));
  for (auto& [address, r] : ranges)
    if (r.stored)
      backend.copy(static_cast<char*>(address) + r.begin, device, r.host.data(), kCPU, r.host.size(), false);
}

}  // namespace argand::exec
