// The device that holds a tensor.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace argand {

// Meta: shapes and dtypes without data.  MPS and XPU have no backend; they exist because programs compare with them.
// PrivateUse1 is for a backend outside of this library (docs/design/0016-devices.md).
enum class DeviceType : int8_t { CPU = 0, CUDA = 1, Meta = 2, MPS, XPU, PrivateUse1, COMPILE_TIME_MAX_DEVICE_TYPES };
inline constexpr int kNumDeviceTypes = static_cast<int>(DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES);
inline constexpr DeviceType kCPU = DeviceType::CPU;
inline constexpr DeviceType kCUDA = DeviceType::CUDA;
inline constexpr DeviceType kMeta = DeviceType::Meta;
inline constexpr DeviceType kPrivateUse1 = DeviceType::PrivateUse1;

// Whether devices of this type have memory and streams of their own: all but the CPU and meta.
constexpr bool is_accelerator(DeviceType type) { return type != kCPU && type != kMeta; }

using DeviceIndex = int8_t;

struct Device {
  using Type = DeviceType;
  // `index` -1 means the current device of that type.
  Device(DeviceType type = kCPU, DeviceIndex index = -1) : type_(type), index_(index) {}
  // "cpu", "cuda", "cuda:1", "meta", "mps", "xpu", "privateuseone" or its name; ValueError for anything else.
  Device(std::string_view text);
  Device(const std::string& text) : Device(std::string_view(text)) {}
  Device(const char* text) : Device(std::string_view(text)) {}

  DeviceType type() const { return type_; }
  DeviceIndex index() const { return index_; }
  bool has_index() const { return index_ >= 0; }
  void set_index(DeviceIndex index) { index_ = index; }
  bool is_cpu() const { return type_ == kCPU; }
  bool is_cuda() const { return type_ == kCUDA; }
  bool is_meta() const { return type_ == kMeta; }
  bool is_privateuseone() const { return type_ == kPrivateUse1; }
  bool is_accelerator() const { return argand::is_accelerator(type_); }
  std::string str() const;
  friend bool operator==(const Device& a, const Device& b) { return a.type_ == b.type_ && a.index_ == b.index_; }

 private:
  DeviceType type_;
  DeviceIndex index_;
};

// The device on which the factory functions of a front make tensors by default, for the calling thread; "cpu" at first.
// The library itself does not use it, because its own code relies on making tensors on the CPU.
Device default_device();
void set_default_device(const Device& device);

const char* device_type_name(DeviceType type);

// Names the device type PrivateUse1, which is called "privateuseone" until then: "sim" makes "sim:0" a device.
// ValueError for an empty name, for one that is not of letters, digits and underscores or that another device type has,
// and if the type has another name already.
void register_privateuse1_backend(const std::string& name);
std::string get_privateuse1_backend();
// Templates, so that text is not taken for a device.
template <class D, std::enable_if_t<std::is_same_v<D, Device>, int> = 0>
void append(std::string& out, const D& d) {
  out += d.str();
}
template <class D, std::enable_if_t<std::is_same_v<D, DeviceType>, int> = 0>
void append(std::string& out, D type) {
  out += device_type_name(type);
}

}  // namespace argand
