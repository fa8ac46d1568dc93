#include "argand/library/dispatch_key.h"

#include <ostream>

#include "argand/exec/autocast.h"
#include "argand/runtime/backend.h"

namespace argand {

namespace {
thread_local DispatchKeySet excluded;
}

const char* toString(DispatchKey key) {
  static constexpr const char* kNames[] = {"Undefined",
                                           "CPU",
                                           "CUDA",
                                           "Meta",
                                           "BackendSelect",
                                           "ADInplaceOrView",
                                           "AutogradCPU",
                                           "AutogradCUDA",
                                           "AutogradMeta",
                                           "AutocastCPU",
                                           "AutocastCUDA",
                                           "Autograd",
                                           "CompositeExplicitAutograd",
                                           "CompositeExplicitAutogradNonFunctional",
                                           "CompositeImplicitAutograd",
                                           "AutogradOther",
                                           "Tracer",
                                           "Functionalize",
                                           "Python",
                                           "FuncTorchBatched",
                                           "SparseCPU",
                                           "SparseCUDA",
                                           "QuantizedCPU",
                                           "QuantizedCUDA",
                                           "MkldnnCPU",
                                           "XLA",
                                           "MPS",
                                           "HIP",
                                           "XPU",
                                           "HPU",
                                           "PrivateUse1"};
  static_assert(std::size(kNames) == static_cast<size_t>(DispatchKey::PrivateUse1) + 1);
  return kNames[static_cast<size_t>(key)];
}

std::ostream& operator<<(std::ostream& out, DispatchKey key) { return out << toString(key); }

std::ostream& operator<<(std::ostream& out, DispatchKeySet keys) {
  out << "DispatchKeySet(";
  const char* before = "";
  for (int i = 1; i <= static_cast<int>(DispatchKey::PrivateUse1); ++i) {
    const auto key = static_cast<DispatchKey>(i);
    if (key == DispatchKey::Autograd || !keys.has(key)) continue;
    out << before << key;
    before = ", ";
  }
  return out << ')';
}

DispatchKey key_of(DispatchKey of_cpu, DeviceType device) {
  ARGAND_CHECK(NotImplementedError, device <= kMeta, "there are no tensors of the device type ",
               device_type_name(device), ", and so no kernels for them");
  return static_cast<DispatchKey>(static_cast<int>(of_cpu) + static_cast<int>(device));
}

DispatchKeySet Tensor::key_set() const {
  if (!defined()) return {};
  const auto of_device = [&](DispatchKey of_cpu) { return key_of(of_cpu, device().type()); };
  DispatchKeySet keys = of_device(DispatchKey::CPU);
  if (!is_inference()) keys = keys | DispatchKey::ADInplaceOrView | of_device(DispatchKey::AutogradCPU);
  return is_meta() ? keys : keys | of_device(DispatchKey::AutocastCPU);
}

DispatchKeySet excluded_dispatch_keys() {
  return InferenceMode::is_enabled() ? excluded | DispatchKey::Autograd : excluded;
}

ExcludeDispatchKeyGuard::ExcludeDispatchKeyGuard(DispatchKeySet keys)
    : before_(excluded),
      grad_(GradMode::is_enabled()),
      autocast_cpu_(autocast::is_autocast_enabled(kCPU)),
      autocast_cuda_(accelerator_type() == kCUDA && autocast::is_autocast_enabled(kCUDA)) {
  excluded = excluded | keys;
  if (keys.has(DispatchKey::Autograd)) GradMode::set_enabled(false);
  if (autocast_cpu_ && keys.has(DispatchKey::AutocastCPU)) autocast::set_autocast_enabled(kCPU, false);
  if (autocast_cuda_ && keys.has(DispatchKey::AutocastCUDA)) autocast::set_autocast_enabled(kCUDA, false);
}

ExcludeDispatchKeyGuard::~ExcludeDispatchKeyGuard() {
  excluded = before_;
  GradMode::set_enabled(grad_);
  if (autocast_cpu_) autocast::set_autocast_enabled(kCPU, true);
  if (autocast_cuda_) autocast::set_autocast_enabled(kCUDA, true);
}

}  // namespace argand
