#include "argand/exec/autocast.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "argand/base/log.h"
#include "argand/exec/autocast_scope.h"
#include "argand/exec/graph.h"

namespace argand {
namespace autocast {
namespace {

struct State {
  ScalarType cpu_dtype = kBFloat16, accelerator_dtype = kHalf;
  bool cache_enabled = true;
  int nesting = 0;
};
thread_local constinit State state;

uint8_t bit_of(DeviceType device) { return static_cast<uint8_t>(1 << static_cast<int>(device)); }

void check_device(DeviceType device) {
  ARGAND_CHECK(ValueError, device == kCPU || device == accelerator_type(), "autocast: expected device type cpu or ",
               device_type_name(accelerator_type()), ", got ", device_type_name(device));
}

ScalarType& dtype_of(DeviceType device) {
  check_device(device);
  return device == kCPU ? state.cpu_dtype : state.accelerator_dtype;
}

Autocast policy_of(const OpInfo& op, DeviceType device) { return device == kCPU ? op.autocast_cpu : op.autocast; }

bool is_supported(ScalarType dtype) { return dtype == kHalf || dtype == kBFloat16; }

// ---- casts

// The cached copy of a leaf.  It is stale after the leaf was written or got other memory.
struct CachedCast {
  Tensor leaf, cast;
  StoragePtr storage;
  uint32_t version;
};
thread_local std::unordered_map<const TensorImpl*, CachedCast> cache;

Tensor cached(const Tensor& leaf, ScalarType dtype) {
  const auto it = cache.find(leaf.unsafeGetTensorImpl());
  if (it != cache.end()) {
    const CachedCast& c = it->second;
    // A copy made without gradients cannot be used by a call that records.
    if (c.cast.dtype() == dtype && c.storage == leaf.storage() && c.version == leaf._version() &&
        (c.cast.requires_grad() || !GradMode::is_enabled()))
      return c.cast;
    cache.erase(it);
  }
  Tensor cast = leaf.to(dtype);
  cache.insert({leaf.unsafeGetTensorImpl(), {leaf, cast, leaf.storage(), leaf._version()}});
  return cast;
}

bool is_eligible(const Tensor& t, DeviceType device) {
  return t.defined() && t.device().type() == device && is_floating_point(t.dtype()) && t.dtype() != kDouble;
}

Tensor cast(const Tensor& t, ScalarType dtype, DeviceType device) {
  const bool is_weight = dtype == dtype_of(device) && t.dtype() == kFloat && t.requires_grad() && t.is_leaf();
  return is_weight && state.cache_enabled && !t.is_view() ? cached(t, dtype) : t.to(dtype);
}

// A 0-dim CPU tensor may be mixed with tensors of a device.
DeviceType device_of(TensorSlots& slots) {
  for (const TensorSlot& s : slots)
    if (s.tensor->defined() && !s.tensor->is_cpu()) return s.tensor->device().type();
  return kCPU;
}

bool has_explicit_dtype(const OpInfo& op, const void* args) {
  ArgumentValues values;
  op.args.values(args, values);
  for (const auto& [name, value] : values)
    if (std::string_view(name) == "dtype") return std::holds_alternative<ScalarType>(value);
  return false;
}

void cast_arguments(const OpInfo& op, void* args, TensorSlots& slots, DeviceType device) {
  const Autocast policy = policy_of(op, device);
  ScalarType to = policy == Autocast::kFloat32 ? kFloat : dtype_of(device);
  if (policy == Autocast::kPromote)
    for (const TensorSlot& s : slots)
      if (is_eligible(*s.tensor, device)) to = promote_types(to, s.tensor->dtype());
  const auto differs = [&](const TensorSlot& s) { return is_eligible(*s.tensor, device) && s.tensor->dtype() != to; };
  if (std::none_of(slots.begin(), slots.end(), differs)) return;
  if (policy == Autocast::kFloat32 && has_explicit_dtype(op, args)) return;
  for (const TensorSlot& s : slots)
    if (differs(s)) *s.tensor = cast(*s.tensor, to, device);
}

}  // namespace

// ---- the switches

bool is_autocast_enabled(DeviceType device) {
  check_device(device);
  return (exec::AutocastScope::enabled & bit_of(device)) != 0;
}

void set_autocast_enabled(DeviceType device, bool enabled) {
  check_device(device);
  uint8_t& all = exec::AutocastScope::enabled;
  all = static_cast<uint8_t>(enabled ? all | bit_of(device) : all & ~bit_of(device));
}

ScalarType get_autocast_dtype(DeviceType device) { return dtype_of(device); }

void set_autocast_dtype(DeviceType device, ScalarType dtype) {
  ARGAND_CHECK(DtypeError, is_supported(dtype), "autocast: expected float16 or bfloat16, got ", dtype);
  dtype_of(device) = dtype;
}

bool is_autocast_cache_enabled() { return state.cache_enabled; }
void set_autocast_cache_enabled(bool enabled) { state.cache_enabled = enabled; }
void clear_cache() { cache.clear(); }
int increment_nesting() { return ++state.nesting; }
int decrement_nesting() { return --state.nesting; }

}  // namespace autocast

void exec::AutocastScope::apply(const OpInfo& op, void* args) {
  TensorSlots slots;
  op.args.tensors(args, slots);
  const DeviceType device = autocast::device_of(slots);
  const bool on = (before_ & autocast::bit_of(device)) != 0;
  switch (on ? autocast::policy_of(op, device) : Autocast::kNone) {
    case Autocast::kNone:
      if (op.kind != OpKind::kComposite) return;
      enabled = std::exchange(before_, uint8_t{0});
      return;
    case Autocast::kAsGiven:
      return;
    default:
      autocast::cast_arguments(op, args, slots, device);
  }
}

AutocastGuard::AutocastGuard(DeviceType device, ScalarType dtype, bool enabled, bool cache_enabled)
    : device_(device),
      dtype_before_(autocast::get_autocast_dtype(device)),
      enabled_before_(autocast::is_autocast_enabled(device)),
      cache_before_(autocast::is_autocast_cache_enabled()) {
  const bool possible = autocast::is_supported(dtype);
  if (enabled && !possible)
    warn("autocast: expected dtype float16 or bfloat16, got ", dtype, "; autocast is off in this region");
  if (possible) autocast::set_autocast_dtype(device, dtype);
  autocast::set_autocast_enabled(device, enabled && possible);
  autocast::set_autocast_cache_enabled(cache_enabled);
  autocast::increment_nesting();
}

AutocastGuard::~AutocastGuard() {
  if (autocast::decrement_nesting() == 0) autocast::clear_cache();
  autocast::set_autocast_enabled(device_, enabled_before_);
  autocast::set_autocast_dtype(device_, dtype_before_);
  autocast::set_autocast_cache_enabled(cache_before_);
}

}  // namespace argand
