// Reductions, for other kernels of this folder: how to launch a kernel of reduce.cuh.
#pragma once
#include <string>

#include "argand/kernels/api/reduce.h"
#include "argand/kernels/cuda/reduce_shape.cuh"

namespace argand::cuda {

// An operation of reduce_ops.cuh, the type of its elements, and where its results go.
struct Reduction {
  std::string in;  // the type of elements in memory, as device code names it
  int64_t in_size;
  std::string op;   // "argand::SumOp<float>"
  std::string acc;  // its Acc
  int64_t acc_size;
  std::string store;         // "argand::StoreFinished<float, argand::Half>"
  const void* store_object;  // of that type
  bool complex = false;
  const void* center = nullptr;
  double parameter = 0;
};

// The host's StoreFinished.
struct FinishedStore {
  void* out;
  FinishArguments finish;
  FinishedStore(void* to, ReduceFinish what, double number, const void* center = nullptr);
};

// Stores every result once, in one or more launches.
void reduce_with(const Reduction& reduction, const void* in, const ReduceLayout& layout);

// The chunks of a long reduction, of `step` elements each.
struct Chunks {
  int64_t step, count;
};
// Stores the results of the chunks, of type Acc, for contiguous `in` [outer, n, inner] reduced over n: as
// [outer, chunks] if inner is 1, else as [chunks, outer, inner].  `store` is not used.
void reduce_chunks(const Reduction& reduction, const void* in, int64_t outer, int64_t n, int64_t inner,
                   const Chunks& chunks, void* out);

// The type in which elements of a real type are compared: float, double or int64.
ScalarType extreme_type(ScalarType t);
// The largest or smallest element with its index: the first of equal ones or the last.
Reduction extreme_reduction(ScalarType in, bool largest, bool first, std::string store, const void* store_object);

}  // namespace argand::cuda
