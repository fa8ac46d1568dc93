// Random numbers into contiguous CPU memory, in the order and by the arithmetic of PyTorch, so that the same seed gives
// the same values.
//
// Each function draws for out[0], out[1], ... from `gen`, whose mutex it locks: the caller must not hold it.  Ranges
// and probabilities are the caller's to check.  n >= 0; n == 0 draws nothing.  A strided destination is filled in
// memory order through a buffer.
//
// How close to PyTorch (2.15 on x86-64 with AVX2 and FMA is the reference):
//   same bits   uniform, random_*, bernoulli, randperm for every dtype; normal of float, Half and BFloat16 with n >= 16
//               (on every machine: the logarithm, sine and cosine are our own).
//   libm        normal of double or with n < 16, log_normal, exponential, geometric and cauchy use the C library's
//               log, sin, cos, tan: the same bits with the same C library, else they may differ in the last place.
// PyTorch before 2.15 differs from 2.15, and so from this, in these places: random_from_to took 32-bit draws for ranges
// up to 2^32 (now 2^28); uniform of Half and BFloat16 took 11 and 8 bits of a draw (now 24, then rounded); uniform
// could round up to `to` (now `from` then).
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

// One by one in double, the second of each pair kept in the generator: what PyTorch does for a non-contiguous tensor of
// any size.
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

// 0, ..., n - 1 in random order; T any integer or floating type that can hold n - 1.
template <class T>
void randperm(CpuGeneratorImpl& gen, T* out, int64_t n);

}  // namespace argand::cpu
