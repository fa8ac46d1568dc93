// Multiplies all windows with the weights; meant for cellular automata, not for speed.
#include "argand/ops/conv/integer_conv.h"

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::ops {

Tensor integer_conv(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvOptions& o) {
  const size_t spatial = weight.sizes().size() - 2;
  const ConvShape s = conv_shape("conv", input.sizes(), weight.sizes(), o);
  const Dims out = conv_output_sizes(s, spatial);
  Dims amounts;
  for (size_t i = spatial; i-- > 0;)
    for (int side = 0; side < 2; ++side) amounts.push_back(o.padding[i]);
  const Tensor x = constant_pad_nd(input, amounts).contiguous();
  // [N, G, C / G, out..., kernel...]
  Dims sizes{s.n, s.groups, s.c / s.groups}, strides{x.stride(0), s.c / s.groups * x.stride(1), x.stride(1)};
  int64_t positions = 1;
  for (size_t i = 0; i < spatial; ++i) {
    sizes.push_back(out[2 + i]);
    strides.push_back(x.stride(static_cast<int64_t>(2 + i)) * o.stride[i]);
    positions *= out[2 + i];
  }
  for (size_t i = 0; i < spatial; ++i) {
    sizes.push_back(weight.sizes()[2 + i]);
    strides.push_back(x.stride(static_cast<int64_t>(2 + i)) * o.dilation[i]);
  }
  const auto n = static_cast<int64_t>(spatial);
  Dims order{1, 0};
  for (int64_t i = 0; i < n; ++i) order.push_back(3 + i);
  order.push_back(2);
  for (int64_t i = 0; i < n; ++i) order.push_back(3 + n + i);
  const int64_t each = numel_of(weight.sizes().slice(1));
  const Tensor windows =
      x.as_strided(sizes, strides, x.storage_offset()).permute(order).reshape({s.groups, s.n * positions, each});
  const Tensor product = windows.bmm(weight.reshape({s.groups, s.o / s.groups, each}).transpose(1, 2));
  Dims back{s.groups, s.n}, to_front{1, 0, n + 2};
  for (int64_t i = 0; i < n; ++i) {
    back.push_back(out[static_cast<size_t>(2 + i)]);
    to_front.push_back(2 + i);
  }
  back.push_back(s.o / s.groups);
  const Tensor y = product.reshape(back).permute(to_front).reshape(out);
  if (!bias.defined()) return y;
  Dims channels(out.size(), 1);
  channels[1] = s.o;
  return y + bias.view(channels);
}

Tensor integer_conv_transpose(const Tensor& input, const Tensor& weight, IntArrayRef sizes, const ConvOptions& o) {
  const size_t spatial = weight.sizes().size() - 2;
  // The input with stride - 1 zeros between its elements, and the weights turned around.
  Dims stuffed(input.sizes()), turned(weight.sizes()), amounts, ones(spatial, 1), none(spatial, 0), flipped;
  for (size_t i = 0; i < spatial; ++i) {
    stuffed[2 + i] = std::max<int64_t>((input.sizes()[2 + i] - 1) * o.stride[i] + 1, 0);
    flipped.push_back(static_cast<int64_t>(2 + i));
  }
  const Tensor x = zeros(stuffed, input.options());
  Tensor places = x;
  for (size_t i = 0; i < spatial; ++i)
    places = places.slice(static_cast<int64_t>(2 + i), std::nullopt, std::nullopt, o.stride[i]);
  places.copy_(input);
  for (size_t i = spatial; i-- > 0;) {
    const int64_t reach = o.dilation[i] * (weight.sizes()[2 + i] - 1), before = reach - o.padding[i];
    amounts.push_back(before);
    amounts.push_back(sizes[2 + i] + reach - stuffed[2 + i] - before);
  }
  const int64_t c = weight.size(0) / o.groups, each = weight.size(1);
  Dims grouped{o.groups, c, each}, merged{o.groups * each, c};
  for (size_t i = 0; i < spatial; ++i) {
    grouped.push_back(weight.sizes()[2 + i]);
    merged.push_back(weight.sizes()[2 + i]);
  }
  const Tensor w = weight.reshape(grouped).transpose(1, 2).reshape(merged).flip(flipped);
  return integer_conv(constant_pad_nd(x, amounts), w, Tensor(), {ones, none, o.dilation, o.groups});
}

}  // namespace argand::ops
