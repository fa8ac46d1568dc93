// How near a result must be to the float64 reference.
//
// The reference works on the same inputs, exact in every dtype.  The bound is one for each element, in units in the
// last place (ulps: the distance of neighbours in the result's dtype at the reference's value; of complex numbers, at
// the absolute value):
//   views                            |got - expected| = 0
//   everything else                  |got - expected| <= ulps * ulp(expected) + steps * shift
// where `steps` is kPointwiseSteps or, for sums and chains of operations, kSteps.
// `ulps` is kUlps unless the op's definition says something else (SampleSink::accuracy, with its reason); `steps` grows
// as many times.  `shift` is
// how far this element moves when inputs are rounded: for a sum, about epsilon times the sum of the absolute values of
// its terms, whatever the largest element of the result is.  It is measured on the reference: some of the inputs, drawn
// by a fixed seed, become smaller by a small share; the largest change of kTrials such calls counts, scaled to the
// epsilon that the op computes with.  That is float32's where a kernel rounds to half precision once, at the end, and
// the dtype's own in composites, whose parts round each, and where a definition says
// that the terms of a sum are rounded (Accuracy::rounds_parts).
// Integers and bool are equal: the reference's value wrapped to the dtype.  NaN equals NaN, infinities equal
// themselves.
#pragma once
#include "tests/conformance/op_case.h"

namespace argand::conformance {

inline constexpr double kUlps = 2, kPointwiseSteps = 1, kSteps = 10;
inline constexpr int kTrials = 6;

// Vectors of decompositions are unique but for phases, and eigenvalues of general matrices come in no order.  A
// definition that asks for infinitely many ulps on a device says that its results differ from the CPU's in such a way
// there: compared are absolute values, in their order of size, with kUlps and the largest shift.
struct Tolerance {
  double ulps = 0;
  std::function<std::vector<double>()> shift = {};  // of each element, in its own units; asked for where ulps do not do
  bool up_to_phases = false;
};

// "" if near enough, else what differs: "element 3: got 1.5, expected 1.25".
std::string difference(const Tensor& got, const Array& expected, const Tolerance& tolerance);
// 2^-52 for float64 and complex128, 2^-23, 2^-10, 2^-7.
double epsilon(ScalarType t);
// The ulps that an op may take on the device under test: kUlps, or what its definition asks for.
double ulps_of(const OpInfo& op);
bool is_up_to_phases(const OpInfo& op);
// The epsilon of the arithmetic that gives results of dtype `t`.
double working_epsilon(const OpInfo& op, ScalarType t);
// The same bits (dtype, sizes, values; NaNs of any kind are one).
std::string bit_difference(const Tensor& got, const Tensor& expected);

}  // namespace argand::conformance
