// Moves the origin of a transform's results to the middle, and back.
#include "argand/ops/define.h"
#include "argand/ops/fft/args.h"
#include "argand/ops/node_name.h"

namespace argand::ops {
namespace {

Tensor rolled(const Tensor& self, const std::optional<Dims>& dim, int64_t more) {
  Dims dims = dim.value_or(Dims()), shifts;
  if (!dim)
    for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  for (const int64_t d : dims) shifts.push_back((self.size(d) + more) / 2);
  return dims.empty() ? self.clone() : self.roll(shifts, dims);
}

}  // namespace

struct FftFftshift : Composite<FftFftshiftArgs> {
  static constexpr auto schema = "fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor";
  static constexpr auto doc =
      "Rolled along dims (all if not given) by half the size: frequency 0 stands in the middle.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return rolled(a.self, a.dim, 0); }
  static void samples(S& s) {
    s.add({s->real({5})});
    s.add({s->real({2, 3, 4})});
    s.add({s->real({2, 3}), Dims{-1}});
    s.add({s->real({})});
    s.fails({s->real({2}), Dims{1}}, "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
  }
};
ARGAND_OP(FftFftshift)
ARGAND_NODE(FftFftshift, "RollBackward0")

struct FftIfftshift : Composite<FftIfftshiftArgs> {
  static constexpr auto schema = "fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor";
  static constexpr auto doc = "The inverse of fftshift.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return rolled(a.self, a.dim, 1); }
  static void samples(S& s) {
    s.add({s->real({5})});
    s.add({s->real({2, 3, 4})});
    s.add({s->real({2, 3}), Dims{-1}});
    s.add({s->real({})});
    s.fails({s->real({2}), Dims{1}}, "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
  }
};
ARGAND_OP(FftIfftshift)
ARGAND_NODE(FftIfftshift, "RollBackward0")

}  // namespace argand::ops
