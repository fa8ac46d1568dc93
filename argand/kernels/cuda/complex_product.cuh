// Matrix products and convolutions of complex elements.
#pragma once
#include "argand/kernels/cuda/complex.cuh"
#include "argand/kernels/cuda/conv.cuh"
#include "argand/kernels/cuda/matrix_product.cuh"

namespace argand {

template <class T>
struct ProductMath<Complex<T>> {
  using Sum = Complex<T>;
  static __device__ __forceinline__ Sum multiply_add(const Sum& a, const Sum& b, const Sum& sum) {
    using Real = ProductMath<T>;
    return {Real::multiply_add(-a.im, b.im, Real::multiply_add(a.re, b.re, sum.re)),
            Real::multiply_add(a.im, b.re, Real::multiply_add(a.re, b.im, sum.im))};
  }
};

}  // namespace argand
