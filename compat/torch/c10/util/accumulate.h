// Sums and products of containers of whole numbers.
#pragma once
#include <cstdint>
#include <iterator>
#include <numeric>

#include "c10/namespaces.h"

namespace c10 {
template <class Iterator>
int64_t sum_integers(Iterator begin, Iterator end) {
  return std::accumulate(begin, end, int64_t{0});
}
template <class Container>
int64_t sum_integers(const Container& values) {
  return sum_integers(std::begin(values), std::end(values));
}
template <class Iterator>
int64_t multiply_integers(Iterator begin, Iterator end) {
  return std::accumulate(begin, end, int64_t{1}, [](int64_t a, int64_t b) { return a * b; });
}
template <class Container>
int64_t multiply_integers(const Container& values) {
  return multiply_integers(std::begin(values), std::end(values));
}
// The products of values[0..dim) and of values[dim..).
template <class Container>
int64_t size_to_dim_(size_t dim, const Container& values) {
  return multiply_integers(std::begin(values), std::begin(values) + static_cast<std::ptrdiff_t>(dim));
}
template <class Container>
int64_t size_from_dim_(size_t dim, const Container& values) {
  return multiply_integers(std::begin(values) + static_cast<std::ptrdiff_t>(dim), std::end(values));
}
}  // namespace c10
