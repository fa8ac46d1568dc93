// pad: more elements, or fewer, before and after dimensions; constant, reflected, repeated or from the other end.
#include <algorithm>

#include "argand/exec/autocast_scope.h"
#include "argand/ops/channel_layout.h"
#include "argand/ops/define.h"
#include "argand/ops/join/args.h"
#include "argand/ops/node_name.h"

namespace argand::ops {
namespace {

// The sources of the elements of a padded dimension; their positions i count from the first element of the input.
using Sources = Tensor (*)(const Tensor& i, int64_t size, int64_t before, int64_t after);

Tensor reflected(const Tensor& i, int64_t n, int64_t, int64_t) { return n - 1 - (n - 1 - i.abs()).abs(); }
Tensor repeated(const Tensor& i, int64_t n, int64_t, int64_t) { return i.clamp(0, n - 1); }
// The ends are those of what negative amounts leave.
Tensor from_other_end(const Tensor& i, int64_t n, int64_t before, int64_t after) {
  const int64_t first = std::max<int64_t>(-before, 0), left = n - first - std::max<int64_t>(-after, 0);
  ARGAND_CHECK(ShapeError, left > 0, "pad: the amounts ", before, " and ", after, " leave nothing to repeat of ", n,
               " elements");
  return first + (i - first).remainder(left);
}

Tensor pad_from_input(Tensor x, const Dims& pad, Sources sources) {
  for (size_t k = 0; k < pad.size() / 2; ++k) {
    const int64_t dim = x.dim() - 1 - static_cast<int64_t>(k), before = pad[2 * k], after = pad[2 * k + 1],
                  size = x.size(dim);
    if (before == 0 && after == 0) continue;
    ARGAND_CHECK(ShapeError, size > 0 && size + before + after > 0, "pad: the amounts ", before, " and ", after,
                 " leave nothing of dimension ", dim, " of input ", x.sizes());
    Dims sizes = x.impl().sizes;
    sizes[static_cast<size_t>(dim)] = size + before + after;
    // An impossible size is an error before the indices are made; this allocates nothing.
    exec::new_tensor({sizes, x.dtype()}, x.device());
    const Tensor i = arange(-before, size + after, TensorOptions(kLong).device(x.device()));
    x = x.index_select(dim, sources(i, size, before, after));
  }
  return x;
}

// `x`, or a copy of it where it is the input or a part of it.
Tensor owned(const Tensor& x, const Tensor& input) {
  return x.storage().get() == input.storage().get() ? x.clone() : x;
}

// Reflection and replication are ops of their own in PyTorch, on its list of float32 for the CPU alone.
Tensor wide_on_cpu(const Tensor& x) {
  const bool casts = (exec::AutocastScope::enabled >> static_cast<int>(kCPU) & 1) != 0;
  return casts && x.is_cpu() && (x.dtype() == kHalf || x.dtype() == kBFloat16) ? x.to(kFloat) : x;
}

// Only a batch may be empty.
void check_sizes(const Tensor& x, int64_t dims) {
  for (int64_t d = x.dim() == dims + 2 ? 1 : 0; d < x.dim(); ++d)
    ARGAND_CHECK(ShapeError, x.size(d) > 0, "pad: Expected ", dims + 1, "D or ", dims + 2,
                 "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: ",
                 x.sizes());
}

// The amounts of the modes that read the input must leave something to read.
void check_amounts(const Tensor& x, const Dims& pad, bool reflect) {
  for (size_t k = 0; k < pad.size() / 2; ++k) {
    const int64_t dim = x.dim() - 1 - static_cast<int64_t>(k), most = reflect ? x.size(dim) - 1 : x.size(dim);
    if (pad[2 * k] <= most && pad[2 * k + 1] <= most) continue;
    ARGAND_CHECK(ShapeError, !reflect,
                 "pad: Padding size should be less than the corresponding input dimension, but got: padding (",
                 pad[2 * k], ", ", pad[2 * k + 1], ") at dimension ", dim, " of input ", x.sizes());
    ARGAND_THROW(ShapeError, "pad: Padding value causes wrapping around more than once.");
  }
}

}  // namespace

struct ConstantPadNd : Composite<ConstantPadNdArgs> {
  static constexpr auto schema = "constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor";
  static constexpr auto autocast = Autocast::kAsGiven;
  static constexpr auto doc =
      "self with pad[0] elements of a value before the last dimension and pad[1] after it, and so on, from the last "
      "dimension to the first; negative amounts take away.";
  static Tensor compose(const Args& a) {
    Tensor x = a.self;
    ARGAND_CHECK(ValueError, a.pad.size() % 2 == 0,
                 "constant_pad_nd: Length of pad must be even but instead it equals ", a.pad.size());
    ARGAND_CHECK(
        ShapeError, static_cast<int64_t>(a.pad.size()) <= 2 * x.dim(),
        "constant_pad_nd: length of pad should be no more than twice the number of dimensions of the input, got ",
        a.pad.size(), " amounts for input ", x.sizes());
    for (size_t i = 0; i < a.pad.size() / 2; ++i) {
      const int64_t dim = x.dim() - 1 - static_cast<int64_t>(i), before = a.pad[2 * i], after = a.pad[2 * i + 1];
      const int64_t taken = std::max<int64_t>(-before, 0) + std::max<int64_t>(-after, 0);
      ARGAND_CHECK(ShapeError, taken <= x.size(dim), "constant_pad_nd: the amounts ", before, " and ", after,
                   " take more than all of dimension ", dim, " of input ", x.sizes());
      if (taken > 0) x = x.narrow(dim, std::max<int64_t>(-before, 0), x.size(dim) - taken);
      x = with_edges(x, dim, before, after, a.value);
    }
    return laid_out_as(owned(x, a.self), a.self);
  }
  static Tensor with_edges(const Tensor& x, int64_t dim, int64_t before, int64_t after, const Scalar& value) {
    std::vector<Tensor> parts;
    const auto add = [&](int64_t amount) {
      if (amount <= 0) return;
      Dims sizes(x.sizes());
      sizes[static_cast<size_t>(dim)] = amount;
      parts.push_back(full(sizes, value, x.options()));
    };
    add(before);
    parts.push_back(x);
    add(after);
    return parts.size() > 1 ? cat(parts, dim) : x;
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), {1, 2}});
    s.add({s->real({2, 3}), {-1, 1, 0, 2}, 1.5});
    s.add({s->real({2}), {}});
    s.fails({s->real({2, 3}), {1}}, "constant_pad_nd: Length of pad must be even but instead it equals 1");
    s.fails({s->real({3}), {1, 1, 1, 1}}, "constant_pad_nd: length of pad should be no more than twice the number of");
    s.fails({s->real({3}), {-2, -2}}, "constant_pad_nd: the amounts -2 and -2 take more than all of dimension 0");
  }
};
ARGAND_OP(ConstantPadNd)
ARGAND_NODE(ConstantPadNd)

struct Pad : Composite<PadArgs> {
  static constexpr auto schema = "pad(Tensor self, int[] pad, str mode='constant', float? value=None) -> Tensor";
  static constexpr auto doc =
      "self with pad[0] elements before the last dimension and pad[1] after it, and so on, from the last dimension to "
      "the "
      "first: of a value (constant), mirrored without the edge (reflect), the edge (replicate), or from the other end "
      "(circular).";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ValueError, a.pad.size() % 2 == 0, "pad: Padding length must be divisible by 2");
    if (a.mode == "constant") return constant_pad_nd(a.self, a.pad, a.value.value_or(0));
    ARGAND_CHECK(ValueError, !a.value || *a.value == 0, "pad: Padding mode \"", a.mode,
                 "\" doesn't take in value argument");
    const bool reflect = a.mode == "reflect", replicate = a.mode == "replicate";
    ARGAND_CHECK(NotImplementedError, reflect || replicate || a.mode == "circular", "pad: Unrecognised padding mode ",
                 a.mode);
    const auto dims = static_cast<int64_t>(a.pad.size() / 2);
    ARGAND_CHECK(NotImplementedError, dims >= 1 && dims <= 3 && (a.self.dim() == dims + 1 || a.self.dim() == dims + 2),
                 "pad: Padding size ", a.pad.size(), " is not supported for ", a.self.dim(),
                 "D input tensor.\nSupported combinations for non-constant padding:\n",
                 "  - 2D or 3D input: padding size = 2 (pads last dimension)\n",
                 "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n",
                 "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)");
    check_sizes(a.self, dims);
    if (!replicate) check_amounts(a.self, a.pad, reflect);
    const Tensor self = reflect || replicate ? wide_on_cpu(a.self) : a.self;
    const exec::AutocastScope as_given;
    return laid_out_as(owned(pad_from_input(self, a.pad,
                                            reflect     ? reflected
                                            : replicate ? repeated
                                                        : from_other_end),
                             self),
                       self);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), {1, 2}, "constant", 0.5});
    s.add({s->real({1, 2, 3, 4}), {1, 2, 0, 1}, "reflect"});
    s.add({s->real({2, 3, 4}), {2, 2}, "replicate"});
    s.add({s->real({2, 3, 4}), {3, 1, 1, 0}, "circular"});
    s.add({s->real({1, 2, 4, 4}), {-1, 1, -2, 1}, "circular"});
    s.fails(
        {s->real({2, 3}), {3, 0}, "reflect"},
        "Padding size should be less than the corresponding input dimension, but got: padding (3, 0) at dimension 1");
    s.fails({s->real({2, 3}), {4, 0}, "circular"}, "Padding value causes wrapping around more than once.");
    s.fails({s->real({2, 3}), {-3, 3}, "circular"}, "pad: the amounts -3 and 3 leave nothing to repeat of 3 elements");
    s.fails({s->real({2, 3}), {1}}, "pad: Padding length must be divisible by 2");
    s.fails({s->real({2, 3}), {1, 1}, "mirror"}, "pad: Unrecognised padding mode mirror");
    s.fails({s->real({2, 3}), {1, 1}, "reflect", 2}, "Padding mode \"reflect\" doesn't take in value argument");
    s.fails({s->real({3}), {1, 1}, "reflect"}, "Padding size 2 is not supported for 1D input tensor.");
  }
};
ARGAND_OP(Pad)
ARGAND_NODE(Pad, [](const PadArgs& a) -> const char* {
  static constexpr const char* kReflected[] = {"ReflectionPad1DBackward0", "ReflectionPad2DBackward0",
                                               "ReflectionPad3DBackward0"};
  static constexpr const char* kRepeated[] = {"ReplicationPad1DBackward0", "ReplicationPad2DBackward0",
                                              "ReplicationPad3DBackward0"};
  const size_t dims = a.pad.size() / 2;
  return a.mode == "reflect" ? kReflected[dims - 1] : a.mode == "replicate" ? kRepeated[dims - 1] : nullptr;
})

}  // namespace argand::ops
