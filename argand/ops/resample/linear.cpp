// Upsampling by linear interpolation of one to three dimensions.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/resample/args.h"
#include "argand/ops/resample/upsample.h"

namespace argand::ops {

struct UpsampleLinear1d : Composite<UpsampleLinear1dArgs> {
  static constexpr auto schema =
      "upsample_linear1d(Tensor self, int[1] output_size, bool align_corners, float? scales=None) -> Tensor";
  static constexpr auto doc =
      "Linear interpolation of [N, C, W]; align_corners lays the first and last elements of both on each other.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return upsample({Args::kName, Filter::kLinear, a.align_corners}, a.self, a.output_size, {a.scales});
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 5}), {7}, false});
    s.add({s->real({2, 3, 5}), {3}, true});
    s.add({s->real({2, 3, 5}), {7}, false, 1.5});
  }
};
ARGAND_OP(UpsampleLinear1d)
ARGAND_NODE(UpsampleLinear1d)

struct UpsampleLinear1dVec : Composite<UpsampleLinear1dVecArgs> {
  static constexpr auto schema =
      "upsample_linear1d.vec(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor";
  static constexpr auto doc = "The same, with either the size of the result or the factors to it.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const Resized to(Args::kName, a.input, 1, a.output_size, a.scale_factors);
    return upsample_linear1d(a.input, to.size(), a.align_corners, to.scale(0));
  }
  static void samples(S& s) { s.add({s->real({2, 3, 5}), {}, false, std::vector<double>{1.5}}); }
};
ARGAND_OP(UpsampleLinear1dVec)
ARGAND_NODE(UpsampleLinear1dVec)

struct UpsampleBilinear2d : Composite<UpsampleBilinear2dArgs> {
  static constexpr auto schema =
      "upsample_bilinear2d(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? "
      "scales_w=None) -> Tensor";
  static constexpr auto doc =
      "Linear interpolation along both dimensions of [N, C, H, W]; align_corners lays the first and last elements of "
      "both on each other.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return upsample({Args::kName, Filter::kLinear, a.align_corners}, a.self, a.output_size, {a.scales_h, a.scales_w});
  }
  static void samples(S& s) {
    s.add({s->real({1, 2, 4, 3}), {6, 4}, false});
    s.add({s->real({1, 2, 4, 3}), {2, 3}, true});
    s.add({s->real({1, 2, 4, 3}), {6, 4}, false, 1.5, 2.5});
    s.fails({s->real({3, 4}), {2, 2}, false},
            "upsample_bilinear2d: It is expected input_size equals to 4, but got size 2");
    s.fails({s->real({1, 1, 3, 4}), {0, 2}, false},
            "Input and output sizes should be greater than 0, but got input [1, 1, 3, 4] and output [0, 2]");
    s.fails({s->integer({1, 1, 3, 4}, 0, 5), {2, 2}, false}, "upsample_bilinear2d: not implemented for dtype int64");
  }
};
ARGAND_OP(UpsampleBilinear2d)
ARGAND_NODE(UpsampleBilinear2d)

struct UpsampleBilinear2dVec : Composite<UpsampleBilinear2dVecArgs> {
  static constexpr auto schema =
      "upsample_bilinear2d.vec(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor";
  static constexpr auto doc = "The same, with either the size of the result or the factors to it.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const Resized to(Args::kName, a.input, 2, a.output_size, a.scale_factors);
    return upsample_bilinear2d(a.input, to.size(), a.align_corners, to.scale(0), to.scale(1));
  }
  static void samples(S& s) { s.add({s->real({1, 2, 4, 3}), {}, false, std::vector<double>{1.5, 2.5}}); }
};
ARGAND_OP(UpsampleBilinear2dVec)
ARGAND_NODE(UpsampleBilinear2dVec)

struct UpsampleTrilinear3d : Composite<UpsampleTrilinear3dArgs> {
  static constexpr auto schema =
      "upsample_trilinear3d(Tensor self, int[3] output_size, bool align_corners, float? scales_d=None, float? "
      "scales_h=None, float? scales_w=None) -> Tensor";
  static constexpr auto doc = "Linear interpolation along the three dimensions of [N, C, D, H, W].";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return upsample({Args::kName, Filter::kLinear, a.align_corners}, a.self, a.output_size,
                    {a.scales_d, a.scales_h, a.scales_w});
  }
  static void samples(S& s) {
    s.add({s->real({1, 2, 2, 3, 2}), {3, 5, 4}, false});
    s.add({s->real({1, 2, 2, 3, 2}), {1, 2, 2}, true});
    s.add({s->real({1, 2, 2, 3, 2}), {3, 5, 4}, false, 1.5, 2, 0.5});
  }
};
ARGAND_OP(UpsampleTrilinear3d)
ARGAND_NODE(UpsampleTrilinear3d)

struct UpsampleTrilinear3dVec : Composite<UpsampleTrilinear3dVecArgs> {
  static constexpr auto schema =
      "upsample_trilinear3d.vec(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors) -> "
      "Tensor";
  static constexpr auto doc = "The same, with either the size of the result or the factors to it.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const Resized to(Args::kName, a.input, 3, a.output_size, a.scale_factors);
    return upsample_trilinear3d(a.input, to.size(), a.align_corners, to.scale(0), to.scale(1), to.scale(2));
  }
  static void samples(S& s) { s.add({s->real({1, 2, 2, 3, 2}), {}, false, std::vector<double>{1.5, 2, 0.5}}); }
};
ARGAND_OP(UpsampleTrilinear3dVec)
ARGAND_NODE(UpsampleTrilinear3dVec)

}  // namespace argand::ops
