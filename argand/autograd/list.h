// Lists as LibTorch's c10::List<T>: a handle to elements that all copies share, including an IValue made from it.
// Thread safety: as a std::shared_ptr to a std::vector.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "argand/base/array_ref.h"
#include "argand/base/error.h"

namespace argand {

class IValue;

// LibTorch's type for lists of IValues with elements of any type.  Here such elements are always allowed.
struct AnyType {
  static std::shared_ptr<AnyType> get() { return std::make_shared<AnyType>(); }
};

template <class T>
class List {
 public:
  using value_type = T;
  using size_type = size_t;
  using internal_reference_type = typename std::vector<T>::reference;
  using iterator = typename std::vector<T>::iterator;

  List() : elements_(std::make_shared<std::vector<T>>()) {}
  List(std::initializer_list<T> values) : elements_(std::make_shared<std::vector<T>>(values)) {}
  explicit List(ArrayRef<T> values) : elements_(std::make_shared<std::vector<T>>(values.begin(), values.end())) {}
  explicit List(std::shared_ptr<std::vector<T>> elements) : elements_(std::move(elements)) {}
  explicit List(const std::shared_ptr<AnyType>&) requires std::is_same_v<T, IValue> : List() {}

  // IndexError for an invalid position, as in all members that take one.
  T get(size_t i) const { return (*this)[i]; }
  internal_reference_type operator[](size_t i) const {
    check(i, size());
    return (*elements_)[i];
  }
  T extract(size_t i) const { return std::exchange((*this)[i], T()); }
  void set(size_t i, T value) const { (*this)[i] = std::move(value); }
  void push_back(T value) const { elements_->push_back(std::move(value)); }
  template <class... Arguments>
  void emplace_back(Arguments&&... arguments) const {
    elements_->push_back(T(std::forward<Arguments>(arguments)...));
  }
  void append(const List& values) const {
    const std::vector<T> copy = *values.elements_;  // `values` may be this list
    elements_->insert(end(), copy.begin(), copy.end());
  }
  void pop_back() const {
    check(0, size());
    elements_->pop_back();
  }
  iterator insert(iterator before, T value) const { return elements_->insert(before, std::move(value)); }
  iterator erase(iterator at) const { return elements_->erase(at); }
  iterator erase(iterator first, iterator last) const { return elements_->erase(first, last); }
  void clear() const { elements_->clear(); }
  void reserve(size_t n) const { elements_->reserve(n); }
  void resize(size_t n) const { elements_->resize(n); }
  void resize(size_t n, const T& value) const { elements_->resize(n, value); }

  iterator begin() const { return elements_->begin(); }
  iterator end() const { return elements_->end(); }
  size_t size() const { return elements_->size(); }
  bool empty() const { return elements_->empty(); }
  std::vector<T> vec() const { return *elements_; }
  List copy() const { return List(std::make_shared<std::vector<T>>(*elements_)); }  // a copy that owns its elements
  bool is(const List& other) const { return elements_ == other.elements_; }         // whether both share their elements
  size_t use_count() const { return static_cast<size_t>(elements_.use_count()); }
  const std::shared_ptr<std::vector<T>>& elements() const { return elements_; }
  friend bool operator==(const List& a, const List& b) { return *a.elements_ == *b.elements_; }

 private:
  static void check(size_t i, size_t size) {
    ARGAND_CHECK(IndexError, i < size, "List: expected a place below ", size, ", got ", i);
  }
  std::shared_ptr<std::vector<T>> elements_;
};

}  // namespace argand
