// LibTorch's modes expressed by the keys of its dispatcher.
#pragma once
#include "argand/base/log.h"
#include "argand/library/dispatch_key.h"
#include "c10/namespaces.h"

// InferenceMode excludes autograd's keys, and takes away the one of views and writes that is there otherwise.
namespace c10::impl {
using argand::ExcludeDispatchKeyGuard;
inline bool tls_is_dispatch_key_excluded(DispatchKey key) { return excluded_dispatch_keys().has(key); }
inline bool tls_is_dispatch_key_included(DispatchKey key) {
  return key == DispatchKey::ADInplaceOrView && !InferenceMode::is_enabled() && !tls_is_dispatch_key_excluded(key);
}
inline bool tls_is_dispatch_keyset_excluded(DispatchKeySet keys) { return (excluded_dispatch_keys() & keys) == keys; }
inline bool tls_is_dispatch_keyset_included(DispatchKeySet keys) {
  return keys == DispatchKeySet(DispatchKey::ADInplaceOrView) &&
         tls_is_dispatch_key_included(DispatchKey::ADInplaceOrView);
}
}  // namespace c10::impl

namespace at {
// The first of LibTorch's guards of kernels, which warns; AutoDispatchBelowAutograd took its place.
struct AutoNonVariableTypeMode : AutoDispatchBelowAutograd {
  explicit AutoNonVariableTypeMode(bool enabled = true) {
    ARGAND_CHECK(Error, enabled,
                 "AutoNonVariableTypeMode: expected enabled to be true: the guard cannot turn anything on again");
    warn("AutoNonVariableTypeMode is deprecated; use InferenceMode, or AutoDispatchBelowAutograd in kernels");
  }
};
}  // namespace at
