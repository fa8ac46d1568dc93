#include "argand/exec/program_runner.h"

#include <atomic>

#include "argand/base/error.h"
#include "argand/kernels/cpu/tile.h"

namespace argand::exec {
namespace {
constinit std::atomic<ProgramRunner> runners[kNumDeviceTypes] = {cpu::run_tiles};
}

void register_program_runner(DeviceType type, ProgramRunner runner) { runners[static_cast<int>(type)].store(runner); }

ProgramRunner program_runner(DeviceType type) {
  const ProgramRunner runner = runners[static_cast<int>(type)].load(std::memory_order_relaxed);
  ARGAND_ASSERT(runner != nullptr, "no runner of pointwise programs for device ", device_type_name(type));
  return runner;
}

}  // namespace argand::exec
