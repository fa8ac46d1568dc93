// Channels become pixels and pixels channels: pixel_shuffle, pixel_unshuffle, channel_shuffle.
#include "argand/ops/channel_layout.h"
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/view/args.h"

namespace argand::ops {
namespace {

// [..., C, H, W] without its last three dimensions, and then `tail`.
Dims with_planes(const Tensor& self, std::initializer_list<int64_t> tail) {
  Dims out(self.sizes().slice(0, self.sizes().size() - 3));
  for (const int64_t n : tail) out.push_back(n);
  return out;
}

// Moves the last five dimensions of `t` into the given order.
Tensor permute_last(const Tensor& t, const std::array<int64_t, 5>& order) {
  const int64_t lead = t.dim() - 5;
  Dims dims;
  for (int64_t d = 0; d < lead; ++d) dims.push_back(d);
  for (const int64_t d : order) dims.push_back(lead + d);
  return t.permute(dims);
}

void check_image(const char* op, const Tensor& self, const char* factor_name, int64_t factor) {
  ARGAND_CHECK(ShapeError, self.dim() >= 3, op, ": ", op,
               " expects input to have at least 3 dimensions, but got input with ", self.dim(), " dimension(s)");
  ARGAND_CHECK(ValueError, factor > 0, op, ": ", op, " expects a positive ", factor_name, ", but got ", factor);
}

}  // namespace

struct PixelShuffle : Composite<PixelShuffleArgs> {
  static constexpr auto schema = "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor";
  static constexpr auto doc = "[..., C r^2, H, W] as [..., C, H r, W r], for r = upscale_factor.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const int64_t r = a.upscale_factor;
    check_image("pixel_shuffle", a.self, "upscale_factor", r);
    const int64_t channels = a.self.size(-3), h = a.self.size(-2), w = a.self.size(-1);
    ARGAND_CHECK(ShapeError, channels / r % r == 0 && channels % r == 0,
                 "pixel_shuffle: pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
                 "of upscale_factor, but input.size(-3)=",
                 channels, " is not divisible by ", r, " squared");
    const Tensor blocks = a.self.reshape(with_planes(a.self, {channels / r / r, r, r, h, w}));
    return laid_out_as(
        permute_last(blocks, {0, 3, 1, 4, 2}).reshape(with_planes(a.self, {channels / r / r, h * r, w * r})), a.self);
  }
  static void samples(S& s) {
    s.add({s->real({2, 8, 2, 3}), 2});
    s.add({s->real({9, 1, 2}), 3});
    s.add({s->real({0, 4, 2, 2}), 2});
    s.fails({s->real({2, 3}), 2},
            "pixel_shuffle expects input to have at least 3 dimensions, but got input with 2 dimension(s)");
    s.fails({s->real({6, 2, 2}), 2}, "but input.size(-3)=6 is not divisible by 2 squared");
    s.fails({s->real({4, 2, 2}), 0}, "pixel_shuffle expects a positive upscale_factor, but got 0");
  }
};
ARGAND_OP(PixelShuffle)
ARGAND_NODE(PixelShuffle)

struct PixelUnshuffle : Composite<PixelUnshuffleArgs> {
  static constexpr auto schema = "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor";
  static constexpr auto doc = "[..., C, H r, W r] as [..., C r^2, H, W], for r = downscale_factor.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const int64_t r = a.downscale_factor;
    check_image("pixel_unshuffle", a.self, "downscale_factor", r);
    const int64_t channels = a.self.size(-3), h = a.self.size(-2), w = a.self.size(-1);
    ARGAND_CHECK(ShapeError, h % r == 0,
                 "pixel_unshuffle: pixel_unshuffle expects height to be divisible by downscale_factor, but "
                 "input.size(-2)=",
                 h, " is not divisible by ", r);
    ARGAND_CHECK(ShapeError, w % r == 0,
                 "pixel_unshuffle: pixel_unshuffle expects width to be divisible by downscale_factor, but "
                 "input.size(-1)=",
                 w, " is not divisible by ", r);
    const Tensor blocks = a.self.reshape(with_planes(a.self, {channels, h / r, r, w / r, r}));
    return laid_out_as(
        permute_last(blocks, {0, 2, 4, 1, 3}).reshape(with_planes(a.self, {channels * r * r, h / r, w / r})), a.self);
  }
  static void samples(S& s) {
    s.add({s->real({2, 2, 4, 6}), 2});
    s.add({s->real({1, 3, 6}), 3});
    s.fails({s->real({1, 3, 4}), 2}, "expects height to be divisible by downscale_factor, but input.size(-2)=3");
    s.fails({s->real({1, 4, 3}), 2}, "expects width to be divisible by downscale_factor, but input.size(-1)=3");
  }
};
ARGAND_OP(PixelUnshuffle)
ARGAND_NODE(PixelUnshuffle)

struct ChannelShuffle : Composite<ChannelShuffleArgs> {
  static constexpr auto schema = "channel_shuffle(Tensor self, int groups) -> Tensor";
  static constexpr auto doc =
      "The channels of [N, C, ...] in another order: as a matrix [groups, C / groups] they are read by columns.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() > 2,
                 "channel_shuffle: channel_shuffle expects input with > 2 dims, but got input with sizes ",
                 a.self.sizes());
    ARGAND_CHECK(
        ValueError, a.groups > 0,
        "channel_shuffle: Number of groups to divide channels in must be positive. Value of groups:", a.groups);
    const int64_t channels = a.self.size(1);
    ARGAND_CHECK(ShapeError, channels % a.groups == 0,
                 "channel_shuffle: Number of channels must be divisible by groups. Got ", channels, " channels and ",
                 a.groups, " groups.");
    const Tensor grouped = a.self.unflatten(1, {a.groups, channels / a.groups});
    return laid_out_as(grouped.transpose(1, 2).reshape(a.self.sizes()), a.self);
  }
  static void samples(S& s) {
    s.add({s->real({2, 6, 2, 2}), 3});
    s.add({s->real({1, 4, 3}), 2});
    s.fails({s->real({2, 6}), 3}, "channel_shuffle expects input with > 2 dims, but got input with sizes [2, 6]");
    s.fails({s->real({2, 5, 2}), 3}, "Number of channels must be divisible by groups. Got 5 channels and 3 groups.");
    s.fails({s->real({2, 6, 2}), 0}, "must be positive. Value of groups:0");
  }
};
ARGAND_OP(ChannelShuffle)
ARGAND_NODE(ChannelShuffle)

}  // namespace argand::ops
