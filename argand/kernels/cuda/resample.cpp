#include <algorithm>
#include <bit>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/kernels/cuda/resample_tables.cuh"
#include "argand/kernels/resample_taps.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/resample.cuh";
constexpr unsigned kThreads = 256;

template <class A>
int64_t most_taps(Filter f, const ResampledDim& d) {
  switch (f) {
    case Filter::kLinear:
      return Taps<A, Filter::kLinear>(d).most();
    case Filter::kCubic:
      return Taps<A, Filter::kCubic>(d).most();
    case Filter::kLinearAntialias:
      return Taps<A, Filter::kLinearAntialias>(d).most();
    case Filter::kCubicAntialias:
      return Taps<A, Filter::kCubicAntialias>(d).most();
    default:
      return 0;  // no weights
  }
}

// A call's tables and shape.
class Call {
 public:
  Call(const Resampling& c, bool backward) : c_(c), begin_(3 - c.spatial), memory_(lay_out(nullptr, backward)) {
    lay_out(memory_.as<char>(), backward);
    shape_.planes = c.planes;
    ResampledDims dims{};
    int64_t most_out = 0, most_in = 0;
    for (int d = 0; d < 3; ++d) {
      const bool counts = d >= begin_;
      shape_.in[d] = counts ? c.dims[d].in : 1;
      shape_.out[d] = counts ? c.dims[d].out : 1;
      if (!counts) continue;
      dims.dims[d] = c.dims[d];
      most_out = std::max(most_out, c.dims[d].out);
      most_in = std::max(most_in, c.dims[d].in);
    }
    const auto grid = [&](int64_t n) {
      return Grid{.blocks = blocks_for(n, kThreads), .threads = kThreads, .blocks_y = static_cast<unsigned>(c.spatial)};
    };
    launch(kernel_instance(kHeader, "resample_taps", weight_type(), static_cast<int>(c.filter)), grid(most_out), dims,
           tables_, begin_);
    if (backward) launch(kernel(kHeader, "resample_ranges"), grid(most_in), shape_, tables_, begin_);
  }
  const ResampleShape& shape() const { return shape_; }
  const ResampleTables& tables() const { return tables_; }
  int begin() const { return begin_; }
  Grid grid(int64_t elements) const { return {.blocks = blocks_for(elements, kThreads), .threads = kThreads}; }

 private:
  ScalarType weight_type() const { return is_nearest(c_.filter) ? kFloat : op_math_type(c_.type); }

  // Where the tables lie from `memory` on; the bytes of all.
  int64_t lay_out(char* memory, bool backward) {
    int64_t bytes = 0;
    const auto take = [&](int64_t n, int64_t size) {
      char* at = memory ? memory + bytes : nullptr;
      bytes += (n * size + 15) / 16 * 16;
      return static_cast<void*>(at);
    };
    const auto integers = [&](int64_t n) { return static_cast<int64_t*>(take(n, sizeof(int64_t))); };
    const ScalarType type = weight_type();
    for (int d = begin_; d < 3; ++d) {
      const ResampledDim& dim = c_.dims[d];
      tables_.first[d] = integers(dim.out);
      tables_.count[d] = integers(dim.out);
      tables_.begins[d] = integers(backward ? dim.in : 0);
      tables_.ends[d] = integers(backward ? dim.in : 0);
      const int64_t most = type == kDouble ? most_taps<double>(c_.filter, dim) : most_taps<float>(c_.filter, dim);
      tables_.weight[d] = take(most * dim.out, element_size(type));
    }
    return bytes;
  }

  const Resampling& c_;
  int begin_;
  ResampleTables tables_{};
  Scratch memory_;
  ResampleShape shape_{};
};

int taps_of_all(Filter f) { return f == Filter::kLinear ? 2 : f == Filter::kCubic ? 4 : 0; }

void resample(const Resampling& c, const void* in, void* out) {
  const int64_t n = c.planes * c.out_size();
  if (n == 0) return;
  const Call call(c, false);
  if (is_nearest(c.filter)) {
    constexpr const char* kUnits[] = {"unsigned char", "unsigned short", "unsigned", "unsigned long long"};
    const char* unit = kUnits[std::countr_zero(static_cast<uint64_t>(element_size(c.type)))];
    return launch(kernel_instance(kHeader, "resample_nearest", unit), call.grid(n), in, out, call.shape(),
                  call.tables(), call.begin());
  }
  launch(kernel_instance(kHeader, "resample", c.type, taps_of_all(c.filter), call.begin()), call.grid(n), in, out,
         call.shape(), call.tables());
}

void resample_backward(const Resampling& c, const void* grad_out, void* grad_in) {
  const int64_t n = c.planes * c.in_size();
  if (n == 0) return;
  const Call call(c, true);
  launch(kernel_instance(kHeader, "resample_backward", c.type, !is_nearest(c.filter), call.begin()), call.grid(n),
         grad_out, grad_in, call.shape(), call.tables());
}

const bool registered =
    (blocks::resample.set(kCUDA, resample), blocks::resample_backward.set(kCUDA, resample_backward), true);

}  // namespace
}  // namespace argand::cuda
