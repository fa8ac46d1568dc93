// The sizes of packed sequences, which the host must know because they decide how many kernels run.
#pragma once
#include "argand/core/tensor.h"

namespace argand::ops {

// The elements of an int64 vector on any device.  DtypeError or ShapeError for another tensor.
Dims sizes_in(const char* op, const char* argument, const Tensor& t);

// The rows of each step of a packed sequence.  ValueError unless there is a step and all are positive and never grow.
Dims batch_sizes_of(const char* op, const Tensor& batch_sizes);

// A vector of int64 on the CPU, for samples.
Tensor literal_sizes(IntArrayRef values);

}  // namespace argand::ops
