// Reductions of a strided tensor over any of its dimensions.
#pragma once
#include "argand/base/small_vector.h"
#include "argand/core/dtype.h"

namespace argand {

// The dimensions of a reduction, those of size 1 dropped and adjacent ones merged where the memory allows.
struct ReduceLayout {
  struct Dim {
    int64_t size, stride;
    int64_t out_stride;  // of a kept dimension, in the contiguous result
  };
  SmallVector<Dim, 5> kept;     // the last one varies fastest in memory if `by_columns`, else in the result
  SmallVector<Dim, 5> reduced;  // by decreasing stride
  int64_t kept_numel = 1, reduced_numel = 1;
  bool by_columns = false;  // neighbours in memory are of different results

  // REQUIRES `dims` distinct and in range.
  ReduceLayout(IntArrayRef sizes, IntArrayRef strides, IntArrayRef dims);
};

enum class ReduceKind : int8_t {
  kSum,     // float, double, int64, complex
  kNanSum,  // NaN counts as 0; float, double
  kProd,    // float, double, int64, complex
  kMax,     // NaN if there is one; float, double, int64
  kMin,
  kAny,  // bool
  kAll,
  kCount,  // of elements that are not 0; int64
  // of x or |x|; float, double
  kSumAbs,
  kSumSquares,
  kMaxAbs,
  kMinAbs,
  kSumPowers,        // |x|^parameter
  kCenteredSquares,  // (x - center)^2
  kCenteredExp,      // e^(x - center)
};

// What is done with each result v before it is converted to its final type.
enum class ReduceFinish : int8_t {
  kNone,
  kDivide,          // v / number
  kDivideSqrt,      // sqrt(v / number)
  kSqrt,            // sqrt(v)
  kPower,           // v^number
  kLogPlusCenter,   // log(v) + center
  kZeroIfInfinite,  // 0 for an infinity
};

struct ReduceCall {
  ReduceKind kind;
  const void* in;      // element (0, ..., 0)
  ScalarType in_type;  // any: elements are converted to `type`, through bool for kAny, kAll and kCount
  ScalarType type;     // of the arithmetic and of `center`
  void* out;           // contiguous
  double parameter = 0;
  const void* center = nullptr;                 // one for each result
  ReduceFinish finish = ReduceFinish::kNone;    // other than kNone: float, double; kDivide complex too
  double number = 0;                            // of `finish`
  ScalarType out_type = ScalarType::Undefined;  // of `out`, if not `type`
};

// A result over no elements is 0, 1 for kProd and kAll, and an infinity (or the type's limit) for kMax and kMin.
using RunReduce = void(const ReduceCall& call, const ReduceLayout& layout);

}  // namespace argand
