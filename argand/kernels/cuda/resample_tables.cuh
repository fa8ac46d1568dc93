// What the kernels that resample are given by value.
#pragma once
#include "argand/kernels/resample_dim.h"

namespace argand {

struct ResampleShape {
  int64_t planes, in[3], out[3];
};

// Of each dimension, made on the device before each call: for each output element where it begins and how many input
// elements it has (`most` at most), with their weights [most, out] in the arithmetic type; and for each input element
// the output elements [begins, ends) that may have it.
struct ResampleTables {
  int64_t *first[3], *count[3], *begins[3], *ends[3];
  void* weight[3];
};

struct ResampledDims {
  ResampledDim dims[3];
};

}  // namespace argand
