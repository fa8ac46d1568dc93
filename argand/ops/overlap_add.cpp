#include "argand/ops/overlap_add.h"

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::ops {
namespace {

// `spaced` has `count` rows of length + step elements, of which the last count * step are zeros or more.  Read as rows
// of `length`, row i is moved i * step to the right; then they are added up: [batch, length].
Tensor sum_of_shifted(const Tensor& spaced, int64_t count, int64_t length, int64_t step) {
  const int64_t batch = spaced.size(0);
  return spaced.reshape({batch, count * (length + step)})
      .narrow(1, 0, count * length)
      .view({batch, count, length})
      .sum(1);
}

}  // namespace

Tensor overlap_add(const Tensor& windows, int64_t step) {
  const int64_t count = windows.size(-2), n = windows.size(-1), length = (count - 1) * step + n;
  Dims sizes(windows.sizes().begin(), windows.sizes().end() - 1);
  sizes.back() = length;
  if (windows.numel() == 0) return zeros(sizes, windows.options());
  if (count == 1) return windows.reshape(sizes);  // whatever `step` is
  const Tensor x = windows.reshape({-1, count, n});
  // Rows are windows or, if there are fewer of these, the pieces of `step` elements that windows have at one place.
  const int64_t pieces = (n + step - 1) / step;
  if (count <= pieces)
    return sum_of_shifted(constant_pad_nd(x, {0, length + step - n}), count, length, step).reshape(sizes);
  const Tensor whole = n % step == 0 ? x : constant_pad_nd(x, {0, pieces * step - n});
  const Tensor rows = whole.reshape({x.size(0), count, pieces, step}).transpose(1, 2);
  // Padding would keep the order of the dimensions in memory.
  const Tensor spaced = zeros({x.size(0), pieces, count + pieces, step}, x.options());
  spaced.narrow(2, 0, count).copy_(rows);
  return sum_of_shifted(spaced, pieces, (count + pieces - 1) * step, step).narrow(1, 0, length).reshape(sizes);
}

}  // namespace argand::ops
