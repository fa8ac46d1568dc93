// What LibTorch says about its modes by the keys of its dispatcher, which Argand does not have: the keys that the modes
// switch on and off, and the questions.
#pragma once
#include "argand/base/log.h"
#include "argand/core/grad_mode.h"
#include "c10/namespaces.h"

namespace c10 {

enum class DispatchKey { ADInplaceOrView, Autograd };
struct DispatchKeySet {
  DispatchKey key;
};
inline constexpr DispatchKeySet autograd_dispatch_keyset{DispatchKey::Autograd};

// InferenceMode excludes autograd's keys, and takes away the one of views and writes that is there otherwise.
namespace impl {
inline bool tls_is_dispatch_key_excluded(DispatchKey key) {
  return key == DispatchKey::Autograd && InferenceMode::is_enabled();
}
inline bool tls_is_dispatch_key_included(DispatchKey key) {
  return key == DispatchKey::ADInplaceOrView && !InferenceMode::is_enabled();
}
inline bool tls_is_dispatch_keyset_excluded(DispatchKeySet keys) { return tls_is_dispatch_key_excluded(keys.key); }
inline bool tls_is_dispatch_keyset_included(DispatchKeySet keys) { return tls_is_dispatch_key_included(keys.key); }
}  // namespace impl

}  // namespace c10

namespace at {

// Nothing is recorded.  The first of LibTorch's, which warns; the others take its place.
struct AutoDispatchBelowAutograd : NoGradGuard {};
struct AutoDispatchBelowADInplaceOrView : NoGradGuard {};
struct AutoNonVariableTypeMode : NoGradGuard {
  explicit AutoNonVariableTypeMode(bool = true) {
    warn("AutoNonVariableTypeMode is deprecated; use InferenceMode, or AutoDispatchBelowAutograd in kernels");
  }
};

}  // namespace at
