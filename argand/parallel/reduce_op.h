// The operations by which a collective combines the values of the ranks.
#pragma once
#include <vector>

#include "argand/core/tensor.h"
#include "argand/runtime/communicator.h"

namespace argand::parallel {

using argand::CollectiveReduce;
const char* name_of(CollectiveReduce kind);  // "SUM", ...

struct ReduceOp {
  CollectiveReduce kind = CollectiveReduce::kSum;
  double factor = 1;  // for kPremulSum: each rank's values are first multiplied by it
  ReduceOp(CollectiveReduce kind = CollectiveReduce::kSum, double factor = 1) : kind(kind), factor(factor) {}
};

// DtypeError for unsupported dtypes: bitwise operations need integers or bool, averages need floating point or complex
// numbers, minimum and maximum need real numbers.
void check_dtype(const char* call, ReduceOp op, ScalarType dtype);

// out = parts[0] op parts[1] op ..., in this order, in float32 for half types, rounded once.  All are 1-dimensional, of
// one size and dtype; out may be one of them.
void join_in_order(const ReduceOp& op, const std::vector<Tensor>& parts, const Tensor& out);

}  // namespace argand::parallel
