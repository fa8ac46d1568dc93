#include "argand/ops/samples.h"

#include <cmath>
#include <numeric>

#include "argand/exec/invoke.h"

namespace argand {

SampleSink::SampleSink(std::string_view op) : state_(0) {
  for (const char c : op) state_ = state_ * 131 + static_cast<unsigned char>(c);
}

uint64_t SampleSink::next() {
  state_ += 0x9E3779B97F4A7C15;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

// On a grid of 1/64, so that values are exact in every floating dtype that the conformance tests use.
double SampleSink::uniform(double low, double high) {
  const double unit = static_cast<double>(next() >> 11) * 0x1p-53;
  return std::round((low + (high - low) * unit) * 64) / 64;
}

namespace {

template <class T, class F>
Tensor make(IntArrayRef sizes, F value) {
  const Tensor t = exec::new_tensor({Dims(sizes), scalar_type_v<T>}, kCPU);
  T* p = raw<T>(t);
  for (int64_t i = 0; i < t.numel(); ++i) p[i] = static_cast<T>(value(i));
  return t;
}

}  // namespace

Tensor SampleSink::real(IntArrayRef sizes, double low, double high) {
  return make<double>(sizes, [&](int64_t) { return uniform(low, high); });
}

Tensor SampleSink::away_from(double kink, IntArrayRef sizes, double low, double high) {
  return make<double>(sizes, [&](int64_t) {
    double v = uniform(low, high);
    while (std::abs(v - kink) < 0.1) v = uniform(low, high);
    return v;
  });
}

Tensor SampleSink::apart(IntArrayRef sizes) {
  const int64_t n = numel_of(sizes);
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[next() % i]);
  return make<double>(sizes, [&](int64_t i) {
    return (static_cast<double>(order[static_cast<size_t>(i)]) - std::floor(static_cast<double>(n) / 2)) / 8;
  });
}

Tensor SampleSink::integer(IntArrayRef sizes, int64_t low, int64_t high) {
  return make<int64_t>(sizes,
                       [&](int64_t) { return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low)); });
}

Tensor SampleSink::boolean(IntArrayRef sizes) {
  return make<bool>(sizes, [&](int64_t) { return (next() & 1) != 0; });
}

}  // namespace argand
