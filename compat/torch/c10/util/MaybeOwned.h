// A value that LibTorch may only borrow; here it owns what it holds, and a tensor is a counted handle.
#pragma once
#include <utility>

#include "argand/ops/functions.h"
#include "c10/namespaces.h"

namespace argand {
template <class T>
class MaybeOwned {
 public:
  MaybeOwned() = default;
  static MaybeOwned borrowed(const T& value) { return MaybeOwned(value); }
  static MaybeOwned owned(T value) { return MaybeOwned(std::move(value)); }
  const T& operator*() const& { return value_; }
  T operator*() && { return std::move(value_); }
  const T* operator->() const { return &value_; }

 private:
  explicit MaybeOwned(T value) : value_(std::move(value)) {}
  T value_;
};

inline MaybeOwned<Tensor> Tensor::expect_contiguous(MemoryFormat format) const {
  return MaybeOwned<Tensor>::owned(defined() ? contiguous(format) : *this);
}
}  // namespace argand
