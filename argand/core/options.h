// How a factory function makes a tensor: TensorOptions().dtype(kFloat).device("cuda").requires_grad(true).
#pragma once
#include <optional>
#include <type_traits>

#include "argand/core/device.h"
#include "argand/core/dtype.h"
#include "argand/core/shape.h"

namespace argand {

enum class Layout : int8_t { Strided };
inline constexpr Layout kStrided = Layout::Strided;

struct TensorOptions {
  TensorOptions() = default;
  TensorOptions(ScalarType t) : dtype_(t) {}
  // Not from a braced list, which means both arguments of a constructor below.
  template <class D, std::enable_if_t<std::is_same_v<std::decay_t<D>, Device>, int> = 0>
  TensorOptions(D&& d) : device_(d) {}
  TensorOptions(DeviceType d) : device_(Device(d)) {}
  TensorOptions(DeviceType d, DeviceIndex index) : device_(Device(d, index)) {}
  TensorOptions(const char* device) : device_(Device(device)) {}
  TensorOptions(Layout l) : layout_(l) {}
  TensorOptions(MemoryFormat f) : memory_format_(f) {}

  [[nodiscard]] TensorOptions dtype(std::optional<ScalarType> t) const { return with(&TensorOptions::dtype_, t); }
  template <class T>
  [[nodiscard]] TensorOptions dtype() const {
    return dtype(scalar_type_v<T>);
  }
  [[nodiscard]] TensorOptions device(std::optional<Device> d) const { return with(&TensorOptions::device_, d); }
  [[nodiscard]] TensorOptions device(DeviceType d, DeviceIndex i = -1) const { return device(Device(d, i)); }
  [[nodiscard]] TensorOptions device_index(DeviceIndex i) const { return device(DeviceType::CUDA, i); }
  [[nodiscard]] TensorOptions requires_grad(std::optional<bool> b) const {
    return with(&TensorOptions::requires_grad_, b);
  }
  [[nodiscard]] TensorOptions pinned_memory(std::optional<bool> b) const { return with(&TensorOptions::pinned_, b); }
  [[nodiscard]] TensorOptions layout(std::optional<Layout> l) const { return with(&TensorOptions::layout_, l); }
  [[nodiscard]] TensorOptions memory_format(std::optional<MemoryFormat> f) const {
    return with(&TensorOptions::memory_format_, f);
  }

  ScalarType dtype() const { return dtype_.value_or(get_default_dtype()); }
  Device device() const { return device_.value_or(kCPU); }
  bool requires_grad() const { return requires_grad_.value_or(false); }
  bool pinned_memory() const { return pinned_.value_or(false); }
  Layout layout() const { return kStrided; }
  std::optional<ScalarType> dtype_opt() const { return dtype_; }
  std::optional<Device> device_opt() const { return device_; }
  std::optional<bool> requires_grad_opt() const { return requires_grad_; }
  std::optional<bool> pinned_memory_opt() const { return pinned_; }
  std::optional<Layout> layout_opt() const { return layout_; }
  std::optional<MemoryFormat> memory_format_opt() const { return memory_format_; }
  bool has_dtype() const { return dtype_.has_value(); }
  bool has_device() const { return device_.has_value(); }

  // Options that are set in `o` take precedence.
  [[nodiscard]] TensorOptions merge_in(const TensorOptions& o) const {
    TensorOptions r = *this;
    if (o.dtype_) r.dtype_ = o.dtype_;
    if (o.device_) r.device_ = o.device_;
    if (o.requires_grad_) r.requires_grad_ = o.requires_grad_;
    if (o.pinned_) r.pinned_ = o.pinned_;
    if (o.layout_) r.layout_ = o.layout_;
    if (o.memory_format_) r.memory_format_ = o.memory_format_;
    return r;
  }

 private:
  template <class T>
  TensorOptions with(std::optional<T> TensorOptions::*field, std::optional<T> value) const {
    TensorOptions r = *this;
    if (value) r.*field = value;
    return r;
  }
  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  std::optional<bool> requires_grad_;
  std::optional<bool> pinned_;
  std::optional<MemoryFormat> memory_format_;
  std::optional<Layout> layout_;  // there is only one layout; printing shows whether it was set
};

inline TensorOptions dtype(ScalarType t) { return TensorOptions(t); }
inline TensorOptions layout(Layout l) { return TensorOptions(l); }
inline TensorOptions device(Device d) { return TensorOptions(d); }
// The CUDA device of this number.
inline TensorOptions device_index(DeviceIndex i) { return TensorOptions(DeviceType::CUDA, i); }
inline TensorOptions requires_grad(bool b = true) { return TensorOptions().requires_grad(b); }

}  // namespace argand
