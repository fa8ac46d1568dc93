#include "tools/argand/device.h"

#include "argand/base/error.h"
#include "argand/runtime/backend.h"

namespace argand::cli {

std::string why_no_gpu() {
  try {
    if (backend_of(kCUDA).device_count() > 0) return "";
    return "the CUDA backend is loaded and finds no device";
  } catch (const DeviceError& e) {
    return e.what();
  }
}

Device choose_device(const std::string& text) {
  if (text == "auto") return why_no_gpu().empty() ? Device(kCUDA, 0) : Device(kCPU);
  const Device device(text);
  ARGAND_CHECK(DeviceError, !device.is_meta(), "--device: expected auto, cpu, cuda or cuda:N, got ", text);
  if (device.is_cuda()) backend_of(kCUDA);
  return device;
}

}  // namespace argand::cli
