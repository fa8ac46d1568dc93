// Upsampling of images by cubic convolution, and the windows that shrink without aliasing.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/resample/args.h"
#include "argand/ops/resample/upsample.h"

namespace argand::ops {

struct UpsampleBicubic2d : Composite<UpsampleBicubic2dArgs> {
  static constexpr auto schema =
      "upsample_bicubic2d(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? "
      "scales_w=None) -> Tensor";
  static constexpr auto doc = "Cubic convolution (Keys 1981, a = -0.75) along both dimensions of [N, C, H, W].";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return upsample({Args::kName, Filter::kCubic, a.align_corners}, a.self, a.output_size, {a.scales_h, a.scales_w});
  }
  static void samples(S& s) {
    s->accuracy({8, "the coordinates and weights of neighbours are rounded to float32"});
    s.add({s->real({1, 2, 4, 3}), {6, 4}, false});
    s.add({s->real({1, 2, 4, 3}), {2, 3}, true});
    s.add({s->real({1, 2, 4, 3}), {6, 4}, false, 1.5, 2.5});
  }
};
ARGAND_OP(UpsampleBicubic2d)
ARGAND_NODE(UpsampleBicubic2d)

struct UpsampleBicubic2dVec : Composite<UpsampleBicubic2dVecArgs> {
  static constexpr auto schema =
      "upsample_bicubic2d.vec(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor";
  static constexpr auto doc = "The same, with either the size of the result or the factors to it.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const Resized to(Args::kName, a.input, 2, a.output_size, a.scale_factors);
    return upsample_bicubic2d(a.input, to.size(), a.align_corners, to.scale(0), to.scale(1));
  }
  static void samples(S& s) {
    s->accuracy({8, "the coordinates and weights of neighbours are rounded to float32"});
    s.add({s->real({1, 2, 4, 3}), {}, false, std::vector<double>{1.5, 2.5}});
  }
};
ARGAND_OP(UpsampleBicubic2dVec)
ARGAND_NODE(UpsampleBicubic2dVec)

struct UpsampleBilinear2dAa : Composite<UpsampleBilinear2dAaArgs> {
  static constexpr auto schema =
      "_upsample_bilinear2d_aa(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? "
      "scales_w=None) -> Tensor";
  static constexpr auto doc =
      "upsample_bilinear2d whose window is as wide as the input elements that one of the result stands for.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return upsample({Args::kName, Filter::kLinearAntialias, a.align_corners}, a.self, a.output_size,
                    {a.scales_h, a.scales_w});
  }
  static void samples(S& s) {
    s->accuracy({8, "the coordinates and weights of neighbours are rounded to float32"});
    s.add({s->real({1, 2, 4, 3}), {6, 4}, false});
    s.add({s->real({1, 2, 4, 3}), {2, 3}, true});
    s.add({s->real({1, 2, 4, 3}), {6, 4}, false, 1.5, 2.5});
  }
};
ARGAND_OP(UpsampleBilinear2dAa)
ARGAND_NODE(UpsampleBilinear2dAa)

struct UpsampleBilinear2dAaVec : Composite<UpsampleBilinear2dAaVecArgs> {
  static constexpr auto schema =
      "_upsample_bilinear2d_aa.vec(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors) -> "
      "Tensor";
  static constexpr auto doc = "The same, with either the size of the result or the factors to it.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const Resized to(Args::kName, a.input, 2, a.output_size, a.scale_factors);
    return _upsample_bilinear2d_aa(a.input, to.size(), a.align_corners, to.scale(0), to.scale(1));
  }
  static void samples(S& s) {
    s->accuracy({8, "the coordinates and weights of neighbours are rounded to float32"});
    s.add({s->real({1, 2, 4, 3}), {}, false, std::vector<double>{1.5, 2.5}});
  }
};
ARGAND_OP(UpsampleBilinear2dAaVec)
ARGAND_NODE(UpsampleBilinear2dAaVec)

struct UpsampleBicubic2dAa : Composite<UpsampleBicubic2dAaArgs> {
  static constexpr auto schema =
      "_upsample_bicubic2d_aa(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? "
      "scales_w=None) -> Tensor";
  static constexpr auto doc = "The same with the cubic kernel (a = -0.5).";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return upsample({Args::kName, Filter::kCubicAntialias, a.align_corners}, a.self, a.output_size,
                    {a.scales_h, a.scales_w});
  }
  static void samples(S& s) {
    s->accuracy({8, "the coordinates and weights of neighbours are rounded to float32"});
    s.add({s->real({1, 2, 4, 3}), {6, 4}, false});
    s.add({s->real({1, 2, 4, 3}), {2, 3}, true});
    s.add({s->real({1, 2, 4, 3}), {6, 4}, false, 1.5, 2.5});
  }
};
ARGAND_OP(UpsampleBicubic2dAa)
ARGAND_NODE(UpsampleBicubic2dAa)

struct UpsampleBicubic2dAaVec : Composite<UpsampleBicubic2dAaVecArgs> {
  static constexpr auto schema =
      "_upsample_bicubic2d_aa.vec(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors) -> "
      "Tensor";
  static constexpr auto doc = "The same, with either the size of the result or the factors to it.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const Resized to(Args::kName, a.input, 2, a.output_size, a.scale_factors);
    return _upsample_bicubic2d_aa(a.input, to.size(), a.align_corners, to.scale(0), to.scale(1));
  }
  static void samples(S& s) {
    s->accuracy({8, "the coordinates and weights of neighbours are rounded to float32"});
    s.add({s->real({1, 2, 4, 3}), {}, false, std::vector<double>{1.5, 2.5}});
  }
};
ARGAND_OP(UpsampleBicubic2dAaVec)
ARGAND_NODE(UpsampleBicubic2dAaVec)

}  // namespace argand::ops
