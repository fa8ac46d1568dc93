#include "argand/core/device.h"

#include <charconv>

#include "argand/base/error.h"

namespace argand {

namespace {
thread_local Device standard = kCPU;
}

Device default_device() { return standard; }
void set_default_device(const Device& device) { standard = device; }

const char* device_type_name(DeviceType type) {
  constexpr const char* names[] = {"cpu", "cuda", "meta", "mps", "xpu"};
  return names[static_cast<int>(type)];
}

Device::Device(std::string_view text) : type_(kCPU), index_(-1) {
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  bool known = false;
  for (int i = 0; i < kNumDeviceTypes && !known; ++i) {
    type_ = static_cast<DeviceType>(i);
    known = name == device_type_name(type_);
  }
  bool valid = known;
  if (known && colon != std::string_view::npos) {
    const auto digits = text.substr(colon + 1);
    int value = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    valid = error == std::errc() && end == digits.data() + digits.size() && value >= 0 && value < 128;
    index_ = static_cast<DeviceIndex>(value);
  }
  ARGAND_CHECK(ValueError, valid, "Invalid device string: '", text,
               "'; expected 'cpu', 'cuda', 'cuda:N', 'meta', 'mps' or 'xpu'");
}

std::string Device::str() const {
  std::string out = device_type_name(type_);
  if (has_index()) out += ":" + std::to_string(index_);
  return out;
}

}  // namespace argand
