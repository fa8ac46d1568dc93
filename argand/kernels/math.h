// The functions with which bodies of pointwise ops are written: argand::math::exp(x) and so on, for float and double,
// for integers where the result is one, and for std::complex (math/complex.h).
//
// All are inlined and compiled for the instruction set of the function they are called in.  Those marked * have no
// branch and call nothing, so that a plain loop over them becomes vector code at -O3; none relies on fast-math or on
// fused multiply-add: the bits are the same in every instruction set.  Special values are those of C's <math.h>
// (infinities, NaN, signed zeros, denormals, gradual underflow) unless said otherwise.
//   Errors, in units of the last place, as math/accuracy_test.cpp holds them: 2 at most; but 4 for float erfc and 5 for
// normal_cdf and gelu; and what <cmath> makes of the functions that forward to it.  Of gelu_tanh, normal_cdf (double)
// and normal_pdf (double), which take an exponential of a rounded product, the error grows with that product.
//
//   exp* exp2* expm1* log* log2* log10* log1p*           exp_log.h
//   tanh* sigmoid*                                       hyperbolic.h
//   sinh cosh asinh acosh atanh                          hyperbolic.h; * for float
//   erf erfc normal_cdf normal_pdf gelu                  erf.h; * for float
//   sin cos tan asin acos atan atan2                     trig.h; * for float
//   pow                                                  pow.h; * for float
//   sqrt* rsqrt* floor* ceil* round* trunc* abs* sign* copysign* min* max* isnan* isinf* isfinite* hypot (* for float)
//   fmod remainder floor_div trunc_div nextafter         basic.h
//   log_sigmoid* log1p_exp* logaddexp* gelu_tanh* gelu_tanh_derivative* digamma zeta polygamma  composite.h
//   tanh_softplus*                                       activation.h
//   bit_not* shift_left* shift_right* is_close* gcd lcm  logic.h
//   lgamma erfinv                                        gamma.h
//
// Rare functions.  This header does not include them, because every GPU kernel would have to be compiled with them:
//   airy_ai                                              airy.h
//   bessel_* erfcx log_normal_cdf normal_quantile        special.h
//   igamma igammac gamma_sample_slope dirichlet_sample_slope  incomplete.h
//
// In CUDA device code these names are CUDA's functions (math/device.h); there is no std::complex.
#pragma once
#include "argand/kernels/math/activation.h"
#include "argand/kernels/math/basic.h"
#include "argand/kernels/math/composite.h"
#include "argand/kernels/math/logic.h"
#if ARGAND_MATH_DEVICE
#include "argand/kernels/math/device.h"
#else
#include "argand/kernels/math/complex.h"
#include "argand/kernels/math/erf.h"
#include "argand/kernels/math/exp_log.h"
#include "argand/kernels/math/gamma.h"
#include "argand/kernels/math/hyperbolic.h"
#include "argand/kernels/math/pow.h"
#include "argand/kernels/math/trig.h"
#endif
