// The key of a kernel of a user-defined op: a device, autograd, autocast, or several at once.  Argand's own ops have no
// keys; only kernels that are registered through argand/library are chosen by them.
#pragma once
#include <cstdint>
#include <iosfwd>

#include "argand/core/grad_mode.h"
#include "argand/core/tensor.h"

namespace argand {

enum class DispatchKey : uint8_t {
  Undefined,
  // Kernels of a device, in the order of DeviceType.
  CPU,
  CUDA,
  Meta,
  BackendSelect,
  ADInplaceOrView,
  // Also in the order of DeviceType.
  AutogradCPU,
  AutogradCUDA,
  AutogradMeta,
  AutocastCPU,
  AutocastCUDA,
  Autocast = AutocastCUDA,
  // For all devices.
  Autograd = AutocastCUDA + 1,
  CompositeExplicitAutograd,
  CompositeExplicitAutogradNonFunctional,
  CompositeImplicitAutograd,
  CatchAll = CompositeImplicitAutograd,
  // Kernels for these keys are kept and never called: no tensor has such a key.
  AutogradOther = CompositeImplicitAutograd + 1,
  Tracer,
  Functionalize,
  Python,
  FuncTorchBatched,
  SparseCPU,
  SparseCUDA,
  QuantizedCPU,
  QuantizedCUDA,
  MkldnnCPU,
  XLA,
  MPS,
  HIP,
  XPU,
  HPU,
  PrivateUse1,
};
const char* toString(DispatchKey key);
// The key of a device type that corresponds to `of_cpu`: CPU, AutogradCPU or AutocastCPU.
// NotImplementedError for a type that has no tensors.
DispatchKey key_of(DispatchKey of_cpu, DeviceType device);

class DispatchKeySet {
 public:
  constexpr DispatchKeySet() = default;
  constexpr DispatchKeySet(DispatchKey key) : bits_(of(key)) {}
  constexpr explicit DispatchKeySet(uint64_t raw) : bits_(raw) {}
  constexpr bool has(DispatchKey key) const { return of(key) != 0 && (bits_ & of(key)) == of(key); }
  constexpr bool has_any(DispatchKeySet other) const { return (bits_ & other.bits_) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr uint64_t raw_repr() const { return bits_; }
  constexpr DispatchKeySet add(DispatchKey key) const { return *this | key; }
  constexpr DispatchKeySet remove(DispatchKey key) const { return *this - key; }
  friend constexpr DispatchKeySet operator|(DispatchKeySet a, DispatchKeySet b) {
    return DispatchKeySet(a.bits_ | b.bits_);
  }
  friend constexpr DispatchKeySet operator&(DispatchKeySet a, DispatchKeySet b) {
    return DispatchKeySet(a.bits_ & b.bits_);
  }
  friend constexpr DispatchKeySet operator-(DispatchKeySet a, DispatchKeySet b) {
    return DispatchKeySet(a.bits_ & ~b.bits_);
  }
  friend constexpr bool operator==(DispatchKeySet a, DispatchKeySet b) { return a.bits_ == b.bits_; }

 private:
  static constexpr uint64_t bit(DispatchKey key) { return uint64_t{1} << static_cast<int>(key); }
  // Autograd stands for the autograd key of every device.
  static constexpr uint64_t of(DispatchKey key) {
    if (key == DispatchKey::Undefined) return 0;
    if (key != DispatchKey::Autograd) return bit(key);
    return bit(DispatchKey::AutogradCPU) | bit(DispatchKey::AutogradCUDA) | bit(DispatchKey::AutogradMeta);
  }
  uint64_t bits_ = 0;
};

inline constexpr DispatchKeySet autograd_dispatch_keyset{DispatchKey::Autograd};
inline constexpr DispatchKeySet autocast_dispatch_keyset =
    DispatchKeySet(DispatchKey::AutocastCPU) | DispatchKey::AutocastCUDA;
inline constexpr DispatchKeySet backend_dispatch_keyset =
    DispatchKeySet(DispatchKey::CPU) | DispatchKey::CUDA | DispatchKey::Meta | DispatchKey::BackendSelect;
// The keys that remain below an autograd kernel, and below a kernel for views and writes.
inline constexpr DispatchKeySet after_ADInplaceOrView_keyset = backend_dispatch_keyset;
inline constexpr DispatchKeySet after_autograd_keyset = after_ADInplaceOrView_keyset | DispatchKey::ADInplaceOrView;

// "CPU"; "DispatchKeySet(CPU, AutogradCPU)".
std::ostream& operator<<(std::ostream& out, DispatchKey key);
std::ostream& operator<<(std::ostream& out, DispatchKeySet keys);

// The keys that calls on this thread exclude.
DispatchKeySet excluded_dispatch_keys();

// Excludes these keys from calls for a scope.  Without Autograd, Argand's own ops record nothing; without Autocast,
// they cast nothing.
class ExcludeDispatchKeyGuard {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKeySet keys);
  explicit ExcludeDispatchKeyGuard(DispatchKey key) : ExcludeDispatchKeyGuard(DispatchKeySet(key)) {}
  ~ExcludeDispatchKeyGuard();
  ExcludeDispatchKeyGuard(const ExcludeDispatchKeyGuard&) = delete;
  ExcludeDispatchKeyGuard& operator=(const ExcludeDispatchKeyGuard&) = delete;

 private:
  DispatchKeySet before_;
  bool grad_, autocast_cpu_, autocast_cuda_;
};

// The guard that autograd kernels hold around the call of the computing kernel.
struct AutoDispatchBelowAutograd : ExcludeDispatchKeyGuard {
  AutoDispatchBelowAutograd() : ExcludeDispatchKeyGuard(DispatchKey::Autograd) {}
};
struct AutoDispatchBelowADInplaceOrView : ExcludeDispatchKeyGuard {
  AutoDispatchBelowADInplaceOrView()
      : ExcludeDispatchKeyGuard(autograd_dispatch_keyset | DispatchKey::ADInplaceOrView) {}
};

}  // namespace argand
