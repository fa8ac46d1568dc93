#include "argand/ops/reduce/reduction.h"

#include <algorithm>

#include "argand/exec/invoke.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::ops {

Dims reduced_dims(const Tensor& self, const std::optional<Dims>& dim, const char* op) {
  return wrap_dims(dim ? IntArrayRef(*dim) : IntArrayRef(), self.dim(), op);
}

Tensor unreduce(const Tensor& reduced, IntArrayRef sizes, const std::optional<Dims>& dim, bool keepdim) {
  if (keepdim || reduced.dim() == static_cast<int64_t>(sizes.size())) return reduced;
  const Dims dims = wrap_dims(dim ? IntArrayRef(*dim) : IntArrayRef(), static_cast<int64_t>(sizes.size()), "reduction");
  return reduced.reshape(reduced_sizes(sizes, dims, true));
}

Tensor expand_reduced(const Tensor& reduced, IntArrayRef sizes, const std::optional<Dims>& dim, bool keepdim) {
  if (reduced.dim() == 0) return reduced.expand(sizes);  // one result: it broadcasts
  return unreduce(reduced, sizes, dim, keepdim).expand(sizes);
}

int64_t reduced_numel(const Tensor& self, IntArrayRef dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= self.dim() == 0 ? 1 : self.sizes()[d];
  return n;
}

Tensor shifted(const Tensor& t, int64_t dim, bool later, double fill) {
  if (t.numel() == 0) return t;
  if (t.dim() == 0) return full_like(t, fill);
  const int64_t n = t.size(dim);
  const Tensor edge = full_like(t.narrow(dim, 0, 1), fill);
  return later ? cat({edge, t.narrow(dim, 0, n - 1)}, dim) : cat({t.narrow(dim, 1, n - 1), edge}, dim);
}

void reduce_into(const Tensor& out, ReduceKind kind, const Tensor& self, IntArrayRef dims,
                 const ReduceOptions& options) {
  const ScalarType type = options.as.value_or(accumulator_type(out.dtype()));
  if (!out.is_cpu() && self.is_complex() && !is_complex(type))  // a GPU converts complex numbers beforehand
    return reduce_into(out, kind, self.to(is_integral(type, true) ? kBool : type), dims, options);
  blocks::reduce.on(out.device())({kind, self.impl().data(), self.dtype(), type, out.impl().data(), options.parameter,
                                   options.center, options.finish, options.number, out.dtype()},
                                  ReduceLayout(self.sizes(), self.strides(), dims));
}

void check_not_empty(const char* op, const Tensor& self, IntArrayRef dims) {
  for (const int64_t d : dims)
    ARGAND_CHECK(IndexError, self.dim() == 0 || self.sizes()[d] > 0, op, ": Expected reduction dim ", d,
                 " to have non-zero size.");
}

Tensor put_back(const Tensor& g, const Tensor& index, IntArrayRef sizes, int64_t dim, bool keepdim) {
  return zeros(sizes, g.options())
      .scatter(dim, unreduce(index, sizes, Dims{dim}, keepdim), unreduce(g, sizes, Dims{dim}, keepdim));
}

Tensor share_among_equals(const Tensor& g, const Tensor& self, const Tensor& result, const Dims& dim, bool keepdim) {
  if (self.numel() == 0) return zeros_like(self);
  const Tensor value = unreduce(result, self.sizes(), dim, keepdim);
  const Tensor equal = where(value.isnan(), self.isnan(), self == value);
  return unreduce(g, self.sizes(), dim, keepdim) / equal.sum(dim, true) * equal;
}

}  // namespace argand::ops
