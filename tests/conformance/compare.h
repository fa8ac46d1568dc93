// How near a result must be to the float64 reference.
//
// Let e be the epsilon of the result's dtype (2^-52 float64, 2^-23 float32, 2^-10 float16, 2^-7 bfloat16; complex types
// as their parts).  The reference works on the same inputs, exact in every dtype, and is itself rounded to the dtype.
// Then
//   pointwise ops, copies and views   |got - expected| <= 4 e max(1, |expected|)     one operation, rounded once
//   everything else                   |got - expected| <= 16 e max(1, largest |expected|)   sums, and chains of ops
// Integers and bool are equal: the reference's value wrapped to the dtype.  NaN equals NaN, infinities equal
// themselves.
#pragma once
#include "tests/conformance/op_case.h"

namespace argand::conformance {

// "" if near enough, else what differs: "element 3: got 1.5, expected 1.25".
std::string difference(const Tensor& got, const Array& expected, const OpInfo& op);
// The same bits (dtype, sizes, values; NaNs of any kind are one).
std::string bit_difference(const Tensor& got, const Tensor& expected);

}  // namespace argand::conformance
