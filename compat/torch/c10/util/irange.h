// for (const auto i : c10::irange(n)) and c10::irange(begin, end).
#pragma once
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>

#include "c10/namespaces.h"

namespace c10 {

template <class I>
class integer_range {
 public:
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = I;
    using difference_type = std::ptrdiff_t;
    using pointer = const I*;
    using reference = const I&;
    explicit iterator(I value) : value_(value) {}
    const I& operator*() const { return value_; }
    const I* operator->() const { return &value_; }
    iterator& operator++() {
      ++value_;
      return *this;
    }
    iterator operator++(int) { return iterator(value_++); }
    bool operator==(const iterator& o) const { return value_ == o.value_; }

   private:
    I value_;
  };
  integer_range(I begin, I end) : begin_(begin), end_(std::max(begin, end)) {}
  iterator begin() const { return iterator(begin_); }
  iterator end() const { return iterator(end_); }

 private:
  I begin_, end_;
};

// Nothing where `end` is below the beginning.  Its type is that of the numbers.
template <class Begin, class End, class = std::enable_if_t<std::is_integral_v<Begin> && std::is_integral_v<End>>>
integer_range<End> irange(Begin begin, End end) {
  return {static_cast<End>(begin), end};
}
template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
integer_range<I> irange(I end) {
  return {I(), end};
}

}  // namespace c10
