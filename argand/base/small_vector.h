// A vector of trivially copyable elements that keeps up to N of them inside itself: sizes and strides without a heap
// allocation.  Same names and complexity as std::vector.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "argand/base/array_ref.h"

namespace argand {

template <class T, size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using argand_array_tag = void;
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() noexcept {}
  explicit SmallVector(size_t n, T value = T{}) { resize(n, value); }
  SmallVector(ArrayRef<T> r) { assign(r.begin(), r.end()); }
  SmallVector(std::initializer_list<T> l) { assign(l.begin(), l.end()); }
  SmallVector(const std::vector<T>& v) { assign(v.data(), v.data() + v.size()); }
  template <class It, class = std::enable_if_t<!std::is_arithmetic_v<It>>>
  SmallVector(It first, It last) {
    assign(first, last);
  }
  SmallVector(const SmallVector& o) { assign(o.begin(), o.end()); }
  SmallVector(SmallVector&& o) noexcept { take(o); }
  ~SmallVector() { free_heap(); }
  SmallVector& operator=(const SmallVector& o) {
    if (this != &o) assign(o.begin(), o.end());
    return *this;
  }
  SmallVector& operator=(SmallVector&& o) noexcept {
    if (this != &o) {
      free_heap();
      take(o);
    }
    return *this;
  }

  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void clear() { size_ = 0; }
  void reserve(size_t n) {
    if (n > capacity_) grow(n);
  }
  void resize(size_t n, T value = T{}) {
    reserve(n);
    for (size_t i = size_; i < n; ++i) data_[i] = value;
    size_ = static_cast<uint32_t>(n);
  }
  void push_back(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = value;
  }
  void pop_back() { --size_; }
  template <class It>
  void assign(It first, It last) {
    const size_t n = static_cast<size_t>(last - first);
    reserve(n);
    size_ = static_cast<uint32_t>(n);
    std::copy(first, last, data_);
  }
  T* insert(const T* at, T value) {
    const size_t i = static_cast<size_t>(at - data_);
    push_back(value);
    std::rotate(data_ + i, data_ + size_ - 1, data_ + size_);
    return data_ + i;
  }
  void insert_all(const SmallVector& o) {
    for (const T v : o) push_back(v);
  }
  T* erase(const T* at) {
    T* p = data_ + (at - data_);
    std::copy(p + 1, end(), p);
    --size_;
    return p;
  }
  std::vector<T> vec() const { return {begin(), end()}; }
  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  bool on_heap() const { return data_ != inline_; }
  void free_heap() {
    if (on_heap()) delete[] data_;
  }
  void take(SmallVector& o) noexcept {
    if (o.on_heap()) {
      data_ = o.data_;
      capacity_ = o.capacity_;
    } else {
      data_ = inline_;
      capacity_ = N;
      std::copy(o.begin(), o.end(), data_);
    }
    size_ = o.size_;
    o.data_ = o.inline_;
    o.capacity_ = N;
    o.size_ = 0;
  }
  void grow(size_t least) {
    const size_t capacity = std::max(least, static_cast<size_t>(capacity_) * 2);
    T* fresh = new T[capacity];
    std::copy(begin(), end(), fresh);
    free_heap();
    data_ = fresh;
    capacity_ = static_cast<uint32_t>(capacity);
  }

  T* data_ = inline_;
  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  T inline_[N];
};

template <class T, size_t N>
void append(std::string& out, const SmallVector<T, N>& v) {
  append(out, ArrayRef<T>(v));
}

// Sizes or strides of a tensor: five dimensions fit without a heap allocation.
using Dims = SmallVector<int64_t, 5>;

}  // namespace argand
