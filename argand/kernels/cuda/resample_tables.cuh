// The arguments of resampling kernels, passed by value.
#pragma once
#include "argand/kernels/resample_dim.h"

namespace argand {

struct ResampleShape {
  int64_t planes, in[3], out[3];
};

// Tables of each dimension, made on the device before each call: for each output element, its first input element, the
// number of them (`most` at most), and their weights [most, out] in the arithmetic type; for each input element, the
// output elements [begins, ends) that may use it.
struct ResampleTables {
  int64_t *first[3], *count[3], *begins[3], *ends[3];
  void* weight[3];
};

struct ResampledDims {
  ResampledDim dims[3];
};

}  // namespace argand
