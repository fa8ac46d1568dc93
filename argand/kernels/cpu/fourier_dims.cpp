#include "argand/kernels/cpu/fourier_dims.h"

#include <cstring>

#include "argand/core/shape.h"
#include "argand/kernels/cpu/fourier.h"
#include "argand/kernels/cpu/scratch.h"

namespace argand::cpu {
namespace {

// The lines along dimension `dim`.
FourierShape lines(IntArrayRef sizes, int64_t dim, bool forward, double scale) {
  const auto d = static_cast<size_t>(dim);
  FourierShape s{1, sizes[d], 1, forward, scale};
  for (size_t i = 0; i < d; ++i) s.outer *= sizes[i];
  for (size_t i = d + 1; i < sizes.size(); ++i) s.inner *= sizes[i];
  return s;
}

// Along dims one after another: from -> to, then within `to`.  The last one scales.
void transform_dims(ScalarType real, IntArrayRef sizes, IntArrayRef dims, bool forward, double scale, const void* from,
                    void* to) {
  for (size_t i = 0; i < dims.size(); ++i) {
    fourier_complex(real, lines(sizes, dims[i], forward, i + 1 == dims.size() ? scale : 1), from, to);
    from = to;
  }
  const int64_t numel = numel_of(sizes);
  if (dims.empty() && from != to && numel > 0)
    std::memcpy(to, from, static_cast<size_t>(numel * element_size(to_complex_type(real))));
}

void from_real(const FourierCall& c, IntArrayRef others) {
  const bool whole = c.kind == FourierKind::kRealToAll;
  const FourierShape last = lines(c.sizes, c.dims.back(), true, others.empty() ? c.scale : 1);
  fourier_from_real(c.real, last, whole, c.from, c.to);
  Dims sizes(c.sizes.begin(), c.sizes.end());
  if (!whole) sizes[static_cast<size_t>(c.dims.back())] = last.n / 2 + 1;
  transform_dims(c.real, sizes, others, true, c.scale, c.to, c.to);
}

void to_real(const FourierCall& c, IntArrayRef others) {
  const FourierShape last = lines(c.sizes, c.dims.back(), false, c.scale);
  Dims sizes(c.sizes.begin(), c.sizes.end());
  sizes[static_cast<size_t>(c.dims.back())] = last.n / 2 + 1;
  if (others.empty()) return fourier_to_real(c.real, last, c.from, c.to);
  ScratchBuffer<char> half(numel_of(sizes) * element_size(to_complex_type(c.real)));
  transform_dims(c.real, sizes, others, false, 1, c.from, half.data());
  fourier_to_real(c.real, last, half.data(), c.to);
}

}  // namespace

void fourier(const FourierCall& c) {
  if (c.kind == FourierKind::kComplex) return transform_dims(c.real, c.sizes, c.dims, c.forward, c.scale, c.from, c.to);
  const IntArrayRef others(c.dims.data(), c.dims.size() - 1);
  c.kind == FourierKind::kHalfToReal ? to_real(c, others) : from_real(c, others);
}

}  // namespace argand::cpu
