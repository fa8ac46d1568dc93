// A reference-counted pointer whose count lives in the object.  Used only for storages, tensors and graph nodes.
// Thread safety: the count is atomic; the object behind it is as safe as the object says.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "argand/base/small_object.h"

namespace argand {

class RefCounted : public SmallObject {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  uint32_t use_count() const noexcept { return count_.load(std::memory_order_acquire); }

 protected:
  virtual ~RefCounted() = default;
  // Called when the last reference is released.  Graph nodes override it to be freed without recursion.
  virtual void release_self() { delete this; }

 private:
  template <class>
  friend class intrusive_ptr;
  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  bool retain_if_owned() const noexcept {
    uint32_t n = count_.load(std::memory_order_relaxed);
    while (n != 0)
      if (count_.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel, std::memory_order_relaxed)) return true;
    return false;
  }
  void release() const noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) const_cast<RefCounted*>(this)->release_self();
  }
  mutable std::atomic<uint32_t> count_{0};
};

template <class T>
class intrusive_ptr {
 public:
  using element_type = T;
  constexpr intrusive_ptr() noexcept = default;
  constexpr intrusive_ptr(std::nullptr_t) noexcept {}
  explicit intrusive_ptr(T* p) noexcept : p_(p) { retain(); }
  intrusive_ptr(const intrusive_ptr& o) noexcept : p_(o.p_) { retain(); }
  intrusive_ptr(intrusive_ptr&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <class U>
  intrusive_ptr(const intrusive_ptr<U>& o) noexcept : p_(o.get()) {
    retain();
  }
  template <class U>
  intrusive_ptr(intrusive_ptr<U>&& o) noexcept : p_(o.detach()) {}
  // A reference to `*p`, or null if the last reference was released already.  The caller must ensure that the memory is
  // still there.  It turns a weak reference, which the object clears under a lock when it is destroyed, into a strong
  // one.
  static intrusive_ptr if_alive(T* p) noexcept {
    intrusive_ptr out;
    if (p && static_cast<const RefCounted*>(p)->retain_if_owned()) out.p_ = p;
    return out;
  }
  ~intrusive_ptr() { drop(); }
  intrusive_ptr& operator=(const intrusive_ptr& o) noexcept {
    intrusive_ptr(o).swap(*this);
    return *this;
  }
  intrusive_ptr& operator=(intrusive_ptr&& o) noexcept {
    intrusive_ptr(std::move(o)).swap(*this);
    return *this;
  }
  void swap(intrusive_ptr& o) noexcept { std::swap(p_, o.p_); }
  void reset() noexcept { intrusive_ptr().swap(*this); }
  T* detach() noexcept { return std::exchange(p_, nullptr); }  // gives the reference away without releasing it
  T* get() const noexcept { return p_; }
  T& operator*() const noexcept { return *p_; }
  T* operator->() const noexcept { return p_; }
  explicit operator bool() const noexcept { return p_ != nullptr; }
  // For programs that hold graph nodes by std::shared_ptr, as LibTorch does: it keeps a reference of this kind.
  operator std::shared_ptr<T>() const {
    if (!p_) return nullptr;
    return {p_, [keep = *this](T*) {}};
  }
  uint32_t use_count() const noexcept { return p_ ? p_->use_count() : 0; }
  bool unique() const noexcept { return use_count() == 1; }
  friend bool operator==(const intrusive_ptr& a, const intrusive_ptr& b) noexcept { return a.p_ == b.p_; }
  friend bool operator==(const intrusive_ptr& a, std::nullptr_t) noexcept { return a.p_ == nullptr; }

 private:
  void retain() const noexcept {
    if (p_) static_cast<const RefCounted*>(p_)->retain();
  }
  void drop() noexcept {
    if (p_) static_cast<const RefCounted*>(p_)->release();
  }
  T* p_ = nullptr;
};

template <class T, class... Args>
intrusive_ptr<T> make_intrusive(Args&&... args) {
  return intrusive_ptr<T>(new T(std::forward<Args>(args)...));
}

}  // namespace argand
