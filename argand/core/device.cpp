#include "argand/core/device.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>

#include "argand/base/error.h"
#include "argand/base/fork_mutex.h"
#include "argand/base/permanent_name.h"

namespace argand {

namespace {
thread_local Device standard = kCPU;

constexpr const char* kPrivateName = "privateuseone";
constinit std::atomic<const char*> private_name{kPrivateName};
}  // namespace

Device default_device() { return standard; }
void set_default_device(const Device& device) { standard = device; }

const char* device_type_name(DeviceType type) {
  if (type == kPrivateUse1) return private_name.load(std::memory_order_acquire);
  constexpr const char* names[] = {"cpu", "cuda", "meta", "mps", "xpu"};
  return names[static_cast<int>(type)];
}

std::string get_privateuse1_backend() { return device_type_name(kPrivateUse1); }

void register_privateuse1_backend(const std::string& name) {
  const auto is_allowed = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  ARGAND_CHECK(ValueError, !name.empty() && std::all_of(name.begin(), name.end(), is_allowed),
               "register_privateuse1_backend: expected a name of letters, digits and underscores, got '", name, "'");
  for (int i = 0; i < kNumDeviceTypes; ++i) {
    const auto type = static_cast<DeviceType>(i);
    ARGAND_CHECK(ValueError, type == kPrivateUse1 || name != device_type_name(type), "register_privateuse1_backend: '",
                 name, "' is another device type");
  }
  static constinit ProcessMutex mutex;
  const std::lock_guard lock(mutex);
  const char* const before = private_name.load(std::memory_order_relaxed);
  if (name == before) return;
  ARGAND_CHECK(ValueError, before == std::string_view(kPrivateName),
               "register_privateuse1_backend: the backend has the name '", before, "' already, and cannot be called '",
               name, "', too");
  private_name.store(permanent_name(name).c_str(), std::memory_order_release);
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
               "'; expected 'cpu', 'cuda', 'cuda:N', 'meta', 'mps', 'xpu' or '", device_type_name(kPrivateUse1), "'");
}

std::string Device::str() const {
  std::string out = device_type_name(type_);
  if (has_index()) out += ":" + std::to_string(index_);
  return out;
}

}  // namespace argand
