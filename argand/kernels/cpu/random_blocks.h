// Converts raw 32-bit draws to samples, many at a time: the inner loops of random.cpp, in a file of their own so that
// they are compiled for the baseline and for AVX2 with FMA.  Both give the same bits.
#pragma once
#include <cstddef>
#include <cstdint>

namespace argand::cpu {

// u * (to - from) + from rounded once, where u is the fraction made of the lower 24 or 53 bits of a draw; a sample that
// rounds up to `to` becomes `from`.
template <class T>
struct Interval {
  T from, to;
};

void to_uniform(const uint32_t* draws, size_t n, Interval<float> interval, float* out);
// Two draws for each element, the first is the upper half.
void to_uniform(const uint32_t* draws, size_t n, Interval<double> interval, double* out);

// Fractions in [0, 1) to normal samples, in place, in blocks of 16: element j of a block gives the radius
// sqrt(-2 log(1 - u)) and element j + 8 the angle 2 pi u; they become radius * cosine and radius * sine.
void to_normal(float* values, size_t blocks, float mean, float std);
void to_normal(double* values, size_t blocks, double mean, double std);

// The baseline versions, for a test that compares.
namespace portable {
void to_uniform(const uint32_t* draws, size_t n, Interval<float> interval, float* out);
void to_uniform(const uint32_t* draws, size_t n, Interval<double> interval, double* out);
void to_normal(float* values, size_t blocks, float mean, float std);
}  // namespace portable

}  // namespace argand::cpu
