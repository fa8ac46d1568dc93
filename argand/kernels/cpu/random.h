// Random numbers into contiguous CPU memory, in the order and by the arithmetic of PyTorch, so that the same seed gives
// the same values.
//
// Each function draws out[0], out[1], ... from `gen`, whose mutex it locks: the caller must not hold it.  The caller
// must check ranges and probabilities.  n >= 0; n == 0 draws nothing.  A strided destination is filled in memory order
// through a buffer.
//
// How close to PyTorch (2.15 on x86-64 with AVX2 and FMA is the reference):
// - The same bits on every machine: uniform, random_*, bernoulli, randperm; normal of float, Half and BFloat16 from 16
//   elements on, whose logarithm, sine and cosine are our own.
// - As the C library computes it: normal of double or of less than 16 elements, log_normal, exponential, geometric and
//   cauchy use its log, exp, sin, cos and tan.  With glibc 2.36 on both sides the bits are the same; with another
//   library they may differ in the last place.  multinomial compares such samples, so it is the same but for near ties.
// Older versions of PyTorch are known to differ in three places: random_from_to draws 32 bits for ranges up to 2^32
// (now 2^28); uniform of Half and BFloat16 uses only as many bits as these have (now 24, then rounded); uniform may
// round up to `to` (now it is `from` then).
#pragma once
#include <cstdint>

#include "argand/base/bfloat16.h"
#include "argand/base/half.h"
#include "argand/core/cpu_generator.h"

namespace argand::cpu {

// T is float, double, Half or BFloat16 unless said otherwise.

// [from, to), computed in float for Half and BFloat16.
template <class T>
void uniform(CpuGeneratorImpl& gen, T* out, int64_t n, double from = 0.0, double to = 1.0);

// From 16 elements on: blocks of 16, Box-Muller on the pairs (j, j + 8).  Below 16: normal_serial.
template <class T>
void normal(CpuGeneratorImpl& gen, T* out, int64_t n, double mean = 0.0, double std = 1.0);

// One by one in double; the generator keeps the second sample of each pair.  PyTorch does this for non-contiguous
// tensors of any size.
template <class T>
void normal_serial(CpuGeneratorImpl& gen, T* out, int64_t n, double mean = 0.0, double std = 1.0);

// from, ..., from + range - 1 with range >= 1, or all of int64 for range == 0.  T: any integer type, bool, or one of
// the floating types above (the integer is then converted).
template <class T>
void random_from_to(CpuGeneratorImpl& gen, T* out, int64_t n, int64_t from, uint64_t range);

// Integers: 0 to the type's maximum.  Floating types: the integers 0 to 2^digits.  bool: both.
template <class T>
void random_full(CpuGeneratorImpl& gen, T* out, int64_t n);

// 1 with probability p, else 0; T any dtype but complex.
template <class T>
void bernoulli(CpuGeneratorImpl& gen, T* out, int64_t n, double p);

// One probability for each element.
template <class T, class P>
void bernoulli(CpuGeneratorImpl& gen, T* out, const P* p, int64_t n);

// -log(1 - u) / lambda, lambda > 0.
template <class T>
void exponential(CpuGeneratorImpl& gen, T* out, int64_t n, double lambda = 1.0);

// The number of trials until the first success, each a success with probability p in (0, 1).  T may also be an integer
// type; p must then be large enough that the number fits.
template <class T>
void geometric(CpuGeneratorImpl& gen, T* out, int64_t n, double p);

// median + sigma tan(pi (u - 1/2))
template <class T>
void cauchy(CpuGeneratorImpl& gen, T* out, int64_t n, double median = 0.0, double sigma = 1.0);

// exp of normal_serial's samples in double.
template <class T>
void log_normal(CpuGeneratorImpl& gen, T* out, int64_t n, double mean = 1.0, double std = 2.0);

// The distributions below have one or two parameters for each element and compute in double.  The caller must check the
// parameters.

// Gamma with the shape alpha[i] >= 0 and the scale 1 (Marsaglia and Tsang, "A simple method for generating gamma
// variables", 2000); never less than the smallest normal number of T.
template <class T>
void standard_gamma(CpuGeneratorImpl& gen, T* out, const T* alpha, int64_t n);

// Poisson with the mean rate[i] >= 0: products of uniform numbers for means below 10, from there on PTRS (Hormann, "The
// transformed rejection method for generating Poisson random variables", 1993).
template <class T>
void poisson(CpuGeneratorImpl& gen, T* out, const T* rate, int64_t n);

// The number of successes of count[i] >= 0 trials with probability p[i] in [0, 1]; NaN if p is NaN.  Waiting times if
// fewer than 10 successes are expected, otherwise BTRS (Hormann, "The generation of binomial random variates", 1993).
template <class T>
void binomial(CpuGeneratorImpl& gen, T* out, const T* count, const T* p, int64_t n);

// 0, ..., n - 1 in random order; T any integer or floating type that can hold n - 1.
template <class T>
void randperm(CpuGeneratorImpl& gen, T* out, int64_t n);

// For each of `rows` rows of `categories` >= 1 weights (they need not add up to 1): k >= 1 category numbers to out,
// with replacement or, for k <= categories, without.  ValueError, before any draw, if a weight is negative or not
// finite or all of a row are 0.  May take the generator's lock several times.
template <class T>
void multinomial(CpuGeneratorImpl& gen, const T* weights, int64_t rows, int64_t categories, int64_t k, bool replacement,
                 int64_t* out);

}  // namespace argand::cpu
