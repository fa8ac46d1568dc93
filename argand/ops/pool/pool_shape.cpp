#include "argand/ops/pool/pool_shape.h"

#include "argand/kernels/blocks.h"

namespace argand::ops {
namespace {

// The dimensions from `first` on must not be empty.  Those before it, which are of the batch, may be.
void check_input(const char* op, const Tensor& input, size_t spatial, int64_t first) {
  const auto n = static_cast<int64_t>(spatial);
  ARGAND_CHECK(ShapeError, input.dim() == n + 1 || input.dim() == n + 2, op, ": expected input [C, ", n,
               " spatial] or [N, C, ", n, " spatial], got a tensor of shape ", input.sizes());
  for (int64_t d = first; d < input.dim(); ++d)
    ARGAND_CHECK(ShapeError, input.sizes()[d] > 0, op, ": Expected ", n + 1, "D or ", n + 2,
                 "D (batch mode) tensor with optional 0 dim batch size for input, but got:", input.sizes());
}

void set_input(PoolShape& s, const Tensor& input, size_t spatial) {
  const size_t lead = input.sizes().size() - spatial;
  s.planes = numel_of(input.sizes().slice(0, lead));
  for (size_t i = 0; i < spatial; ++i) s.in[3 - spatial + i] = input.sizes()[lead + i];
}

int64_t output_size(int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation, bool ceil_mode) {
  const int64_t reach = in + 2 * padding - dilation * (kernel - 1) - 1;
  const int64_t rounded = reach + (ceil_mode ? stride - 1 : 0);
  int64_t out = (rounded >= 0 ? rounded / stride : -((-rounded + stride - 1) / stride)) + 1;
  // The last window must start inside the input or its left padding.
  if (ceil_mode && (out - 1) * stride >= in + padding) --out;
  return out;
}

// A tensor without a batch has its channels first.
bool channels_are_last(const Tensor& t, size_t spatial) {
  return t.sizes().size() == spatial + 2 && has_channels_last(t);
}

}  // namespace

PoolShape pool_shape(const char* op, const Tensor& input, const PoolOptions& o) {
  const size_t spatial = o.kernel.size();
  check_input(op, input, spatial, input.dim() - static_cast<int64_t>(spatial) - 1);
  ARGAND_CHECK(ValueError, o.stride.empty() || o.stride.size() == spatial, op, ": stride must be one number, ", spatial,
               " numbers, or left out, got ", o.stride);
  ARGAND_CHECK(ValueError, o.padding.size() == spatial && o.dilation.size() == spatial, op, ": expected ", spatial,
               " numbers for padding and dilation, got ", o.padding, " and ", o.dilation);
  PoolShape s;
  set_input(s, input, spatial);
  for (size_t i = 0; i < spatial; ++i) {
    const size_t d = 3 - spatial + i;
    s.kernel[d] = o.kernel[i];
    s.stride[d] = o.stride.empty() ? o.kernel[i] : o.stride[i];
    s.padding[d] = o.padding[i];
    s.dilation[d] = o.dilation[i];
    ARGAND_CHECK(ValueError, s.kernel[d] > 0, op, ": kernel size should be greater than zero, but got ", o.kernel);
    ARGAND_CHECK(ValueError, s.stride[d] > 0, op, ": stride should not be zero, but got ", o.stride);
    ARGAND_CHECK(ValueError, s.dilation[d] > 0, op, ": dilation should be greater than zero, but got ", o.dilation);
    ARGAND_CHECK(ValueError, s.padding[d] >= 0 && s.padding[d] <= ((s.kernel[d] - 1) * s.dilation[d] + 1) / 2, op,
                 ": pad should be at most half of effective kernel size, but got pad=", s.padding[d],
                 ", kernel_size=", s.kernel[d], " and dilation=", s.dilation[d]);
    s.out[d] = output_size(s.in[d], s.kernel[d], s.stride[d], s.padding[d], s.dilation[d], o.ceil_mode);
    ARGAND_CHECK(ShapeError, s.out[d] > 0, op, ": Output size is too small: the output would be empty: input ",
                 input.sizes(), ", kernel ", o.kernel);
  }
  return s;
}

PoolShape adaptive_pool_shape(const char* op, const Tensor& input, IntArrayRef output_size) {
  check_input(op, input, output_size.size(), 1);
  PoolShape s;
  set_input(s, input, output_size.size());
  for (size_t i = 0; i < output_size.size(); ++i) {
    const size_t d = 3 - output_size.size() + i;
    ARGAND_CHECK(ValueError, output_size[i] >= 0, op,
                 ": elements of output_size must be greater than or equal to 0, got ", output_size);
    s.out[d] = output_size[i];
  }
  return s;
}

void check_gradient(const char* op, const Tensor& grad_output) {
  for (int64_t d = 1; d < grad_output.dim(); ++d)
    ARGAND_CHECK(ShapeError, grad_output.size(d) > 0, op,
                 ": Expected grad_output to have non-zero size for non-batch dimensions, but grad_output has sizes ",
                 grad_output.sizes(), " with dimension ", d, " being empty");
}

Dims pooled_sizes(const Tensor& input, const PoolShape& s, size_t spatial) {
  Dims out(input.sizes());
  for (size_t i = 0; i < spatial; ++i) out[out.size() - spatial + i] = s.out[3 - spatial + i];
  return out;
}

Dims pooled_strides(IntArrayRef sizes, const Tensor& t, size_t spatial) {
  return channel_strides(sizes, channels_are_last(t, spatial));
}

ChannelLayout pool_layout(PoolShape& shape, const Tensor& t, size_t spatial) {
  const bool last = channels_are_last(t, spatial) && blocks::pools_take_channels_last.on(t.device())(shape);
  shape.channels = last ? t.sizes()[1] : 0;
  return {t.sizes().size(), last};
}

}  // namespace argand::ops
