// Upsampling to the nearest element, of one to three dimensions.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/resample/args.h"
#include "argand/ops/resample/upsample.h"

namespace argand::ops {

struct UpsampleNearest1d : Composite<UpsampleNearest1dArgs> {
  static constexpr auto schema = "upsample_nearest1d(Tensor self, int[1] output_size, float? scales=None) -> Tensor";
  static constexpr auto doc = "Each element of the result is the input's at the same place, rounded down.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return upsample({Args::kName, Filter::kNearest, false}, a.self, a.output_size, {a.scales});
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 5}), {7}});
    s.add({s->real({2, 3, 5}), {3}, 1.5});
    s.fails({s->real({3, 4}), {2}}, "upsample_nearest1d: It is expected input_size equals to 3, but got size 2");
  }
};
ARGAND_OP(UpsampleNearest1d)
ARGAND_NODE(UpsampleNearest1d)

struct UpsampleNearest1dVec : Composite<UpsampleNearest1dVecArgs> {
  static constexpr auto schema =
      "upsample_nearest1d.vec(Tensor input, int[]? output_size, float[]? scale_factors) -> Tensor";
  static constexpr auto doc = "The same, with either the size of the result or the factors to it.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const Resized to(Args::kName, a.input, 1, a.output_size, a.scale_factors);
    return upsample_nearest1d(a.input, to.size(), to.scale(0));
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 5}), {}, std::vector<double>{1.5}});
    s.add({s->real({2, 3, 5}), Dims{4}, {}});
    s.fails({s->real({2, 3, 5}), {}, {}},
            "upsample_nearest1d: Must specify exactly one of output_size and scale_factors");
    s.fails({s->real({2, 3, 5}), {}, std::vector<double>{1, 2}}, "upsample_nearest1d: expected 1 scale factors, got 2");
  }
};
ARGAND_OP(UpsampleNearest1dVec)
ARGAND_NODE(UpsampleNearest1dVec)

struct UpsampleNearest2d : Composite<UpsampleNearest2dArgs> {
  static constexpr auto schema =
      "upsample_nearest2d(Tensor self, int[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor";
  static constexpr auto doc = "Each element of the result is the input's at the same place, rounded down.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return upsample({Args::kName, Filter::kNearest, false}, a.self, a.output_size, {a.scales_h, a.scales_w});
  }
  static void samples(S& s) {
    s.add({s->real({1, 2, 4, 3}), {6, 4}});
    s.add({s->real({1, 2, 4, 3}), {2, 3}, 1.5, 2.5});
  }
};
ARGAND_OP(UpsampleNearest2d)
ARGAND_NODE(UpsampleNearest2d)

struct UpsampleNearest2dVec : Composite<UpsampleNearest2dVecArgs> {
  static constexpr auto schema =
      "upsample_nearest2d.vec(Tensor input, int[]? output_size, float[]? scale_factors) -> Tensor";
  static constexpr auto doc = "The same, with either the size of the result or the factors to it.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const Resized to(Args::kName, a.input, 2, a.output_size, a.scale_factors);
    return upsample_nearest2d(a.input, to.size(), to.scale(0), to.scale(1));
  }
  static void samples(S& s) { s.add({s->real({1, 2, 4, 3}), {}, std::vector<double>{1.5, 2.5}}); }
};
ARGAND_OP(UpsampleNearest2dVec)
ARGAND_NODE(UpsampleNearest2dVec)

struct UpsampleNearest3d : Composite<UpsampleNearest3dArgs> {
  static constexpr auto schema =
      "upsample_nearest3d(Tensor self, int[3] output_size, float? scales_d=None, float? scales_h=None, float? "
      "scales_w=None) -> Tensor";
  static constexpr auto doc = "Each element of the result is the input's at the same place, rounded down.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return upsample({Args::kName, Filter::kNearest, false}, a.self, a.output_size,
                    {a.scales_d, a.scales_h, a.scales_w});
  }
  static void samples(S& s) {
    s.add({s->real({1, 2, 2, 3, 2}), {3, 5, 4}});
    s.add({s->real({1, 2, 2, 3, 2}), {1, 2, 2}, 1.5, 2, 0.5});
  }
};
ARGAND_OP(UpsampleNearest3d)
ARGAND_NODE(UpsampleNearest3d)

struct UpsampleNearest3dVec : Composite<UpsampleNearest3dVecArgs> {
  static constexpr auto schema =
      "upsample_nearest3d.vec(Tensor input, int[]? output_size, float[]? scale_factors) -> Tensor";
  static constexpr auto doc = "The same, with either the size of the result or the factors to it.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const Resized to(Args::kName, a.input, 3, a.output_size, a.scale_factors);
    return upsample_nearest3d(a.input, to.size(), to.scale(0), to.scale(1), to.scale(2));
  }
  static void samples(S& s) { s.add({s->real({1, 2, 2, 3, 2}), {}, std::vector<double>{1.5, 2, 0.5}}); }
};
ARGAND_OP(UpsampleNearest3dVec)
ARGAND_NODE(UpsampleNearest3dVec)

struct UpsampleNearestExact1d : Composite<UpsampleNearestExact1dArgs> {
  static constexpr auto schema =
      "_upsample_nearest_exact1d(Tensor self, int[1] output_size, float? scales=None) -> Tensor";
  static constexpr auto doc = "Each element of the result is the input's nearest to its middle.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return upsample({Args::kName, Filter::kNearestExact, false}, a.self, a.output_size, {a.scales});
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 5}), {7}});
    s.add({s->real({2, 3, 5}), {3}, 1.5});
  }
};
ARGAND_OP(UpsampleNearestExact1d)
ARGAND_NODE(UpsampleNearestExact1d)

struct UpsampleNearestExact1dVec : Composite<UpsampleNearestExact1dVecArgs> {
  static constexpr auto schema =
      "_upsample_nearest_exact1d.vec(Tensor input, int[]? output_size, float[]? scale_factors) -> Tensor";
  static constexpr auto doc = "The same, with either the size of the result or the factors to it.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const Resized to(Args::kName, a.input, 1, a.output_size, a.scale_factors);
    return _upsample_nearest_exact1d(a.input, to.size(), to.scale(0));
  }
  static void samples(S& s) { s.add({s->real({2, 3, 5}), {}, std::vector<double>{1.5}}); }
};
ARGAND_OP(UpsampleNearestExact1dVec)
ARGAND_NODE(UpsampleNearestExact1dVec)

struct UpsampleNearestExact2d : Composite<UpsampleNearestExact2dArgs> {
  static constexpr auto schema =
      "_upsample_nearest_exact2d(Tensor self, int[2] output_size, float? scales_h=None, float? scales_w=None) -> "
      "Tensor";
  static constexpr auto doc = "Each element of the result is the input's nearest to its middle.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return upsample({Args::kName, Filter::kNearestExact, false}, a.self, a.output_size, {a.scales_h, a.scales_w});
  }
  static void samples(S& s) {
    s.add({s->real({1, 2, 4, 3}), {6, 4}});
    s.add({s->real({1, 2, 4, 3}), {2, 3}, 1.5, 2.5});
  }
};
ARGAND_OP(UpsampleNearestExact2d)
ARGAND_NODE(UpsampleNearestExact2d)

struct UpsampleNearestExact2dVec : Composite<UpsampleNearestExact2dVecArgs> {
  static constexpr auto schema =
      "_upsample_nearest_exact2d.vec(Tensor input, int[]? output_size, float[]? scale_factors) -> Tensor";
  static constexpr auto doc = "The same, with either the size of the result or the factors to it.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const Resized to(Args::kName, a.input, 2, a.output_size, a.scale_factors);
    return _upsample_nearest_exact2d(a.input, to.size(), to.scale(0), to.scale(1));
  }
  static void samples(S& s) { s.add({s->real({1, 2, 4, 3}), {}, std::vector<double>{1.5, 2.5}}); }
};
ARGAND_OP(UpsampleNearestExact2dVec)
ARGAND_NODE(UpsampleNearestExact2dVec)

struct UpsampleNearestExact3d : Composite<UpsampleNearestExact3dArgs> {
  static constexpr auto schema =
      "_upsample_nearest_exact3d(Tensor self, int[3] output_size, float? scales_d=None, float? scales_h=None, float? "
      "scales_w=None) -> Tensor";
  static constexpr auto doc = "Each element of the result is the input's nearest to its middle.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return upsample({Args::kName, Filter::kNearestExact, false}, a.self, a.output_size,
                    {a.scales_d, a.scales_h, a.scales_w});
  }
  static void samples(S& s) {
    s.add({s->real({1, 2, 2, 3, 2}), {3, 5, 4}});
    s.add({s->real({1, 2, 2, 3, 2}), {1, 2, 2}, 1.5, 2, 0.5});
  }
};
ARGAND_OP(UpsampleNearestExact3d)
ARGAND_NODE(UpsampleNearestExact3d)

struct UpsampleNearestExact3dVec : Composite<UpsampleNearestExact3dVecArgs> {
  static constexpr auto schema =
      "_upsample_nearest_exact3d.vec(Tensor input, int[]? output_size, float[]? scale_factors) -> Tensor";
  static constexpr auto doc = "The same, with either the size of the result or the factors to it.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const Resized to(Args::kName, a.input, 3, a.output_size, a.scale_factors);
    return _upsample_nearest_exact3d(a.input, to.size(), to.scale(0), to.scale(1), to.scale(2));
  }
  static void samples(S& s) { s.add({s->real({1, 2, 2, 3, 2}), {}, std::vector<double>{1.5, 2, 0.5}}); }
};
ARGAND_OP(UpsampleNearestExact3dVec)
ARGAND_NODE(UpsampleNearestExact3dVec)

}  // namespace argand::ops
