// Elements in another order, or more than once: movedim, flip, roll, repeat, tile.
#include "argand/kernels/blocks.h"
#include "argand/kernels/cpu/gather.h"
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/view/args.h"

namespace argand::ops {

namespace {

// The dimensions counted from 0, each once.
Dims distinct(const Dims& dims, int64_t ndim, const char* name) {
  Dims out;
  for (const int64_t d : dims) {
    const int64_t dim = wrap_dim(d, ndim, "movedim");
    ARGAND_CHECK(ValueError, std::find(out.begin(), out.end(), dim) == out.end(), "movedim: repeated dim in `", name,
                 "` (", dims, ")");
    out.push_back(dim);
  }
  return out;
}

}  // namespace

struct Movedim : Composite<MovedimArgs> {
  static constexpr auto schema = "movedim(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)";
  static constexpr const char* overloads[] = {"movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
                                              "moveaxis(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
                                              "moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)"};
  static constexpr auto doc = "Dimension source[i] moved to place destination[i]; the others keep their order.";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ValueError, a.source.size() == a.destination.size(),
                 "movedim: Invalid source or destination dims: source (", a.source,
                 " dims) should contain the same number of dims as destination (", a.destination, " dims)");
    const Dims from = distinct(a.source, a.self.dim(), "source"),
               to = distinct(a.destination, a.self.dim(), "destination");
    if (a.self.dim() == 0) return alias(a.self);
    Dims order(static_cast<size_t>(a.self.dim()), -1);
    for (size_t i = 0; i < from.size(); ++i) order[to[i]] = from[i];
    int64_t next = 0;
    for (int64_t& d : order) {
      if (d >= 0) continue;
      while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
      d = next++;
    }
    return a.self.permute(order);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4}), {0}, {-1}});
    s.add({s->real({2, 3, 4}), {1, 2}, {0, 1}});
    s.fails({s->real({2, 3}), {0, 1}, {0}}, "movedim: Invalid source or destination dims");
    s.fails({s->real({2, 3}), {0, 0}, {0, 1}}, "movedim: repeated dim in `source` ([0, 0])");
  }
};
ARGAND_OP(Movedim)

struct Flip : Kernel<FlipArgs> {
  static constexpr auto schema = "flip(Tensor self, int[] dims) -> Tensor";
  static constexpr auto doc = "A copy with the order along each of dims reversed.";
  static TensorMeta infer(const Args& a) {
    wrap_dims(a.dims, a.self.dim(), "flip", false);
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    if (out.numel() == 0) return;
    Dims strides = a.self.impl().strides;
    int64_t start = 0;
    if (a.self.dim() > 0) {
      for (const int64_t d : wrap_dims(a.dims, a.self.dim(), "flip", false)) {
        start += (out.sizes()[d] - 1) * strides[d];
        strides[d] = -strides[d];
      }
    }
    const char* from = static_cast<const char*>(a.self.impl().data()) + start * out.itemsize();
    if (!out.is_cpu()) return run_on_device(from, strides, out);
    cpu::gather(from, out.sizes(), strides, out.itemsize(), 0, out.numel(), out.impl().data());
  }
  static void run_on_device(const char* from, const Dims& strides, const Tensor& out) {
    if (out.dim() > AlongDim::kMaxDims) throw NotOnDevice("more than 16 dimensions");
    AlongDim s{out.numel(), 0, 1, {1}, {0}};
    s.ndim = std::max<int>(1, static_cast<int>(out.dim()));
    std::copy(out.sizes().begin(), out.sizes().end(), s.sizes);
    std::copy(strides.begin(), strides.end(), s.strides);
    blocks::gather_along.on(out.device())(s, out.itemsize(), from, nullptr, out.impl().data());
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.flip(c.dims); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), {0}});
    s.add({s->real({2, 3, 4}), {0, -1}});
    s.add({s->real({2, 3}), {}});
    s.fails({s->real({2, 3}), {2}}, "flip: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
    s.fails({s->real({2, 3}), {0, -2}}, "flip: dim 0 appears multiple times");
  }
};
ARGAND_OP(Flip)

struct Fliplr : Composite<FliplrArgs> {
  static constexpr auto schema = "fliplr(Tensor self) -> Tensor";
  static constexpr auto doc = "flip along dimension 1.";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() >= 2, "fliplr: Input must be >= 2-d.");
    return a.self.flip({1});
  }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.fails({s->real({2})}, "fliplr: Input must be >= 2-d.");
  }
};
ARGAND_OP(Fliplr)

struct Flipud : Composite<FlipudArgs> {
  static constexpr auto schema = "flipud(Tensor self) -> Tensor";
  static constexpr auto doc = "flip along dimension 0.";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() >= 1, "flipud: Input must be >= 1-d.");
    return a.self.flip({0});
  }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.fails({s->real({})}, "flipud: Input must be >= 1-d.");
  }
};
ARGAND_OP(Flipud)

struct Rot90 : Composite<Rot90Args> {
  static constexpr auto schema = "rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor";
  static constexpr auto doc = "Turned by k quarters in the plane of two dimensions, from the first towards the second.";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ValueError, a.dims.size() == 2,
                 "rot90: expected total rotation dims == 2, but got dims = ", a.dims.size());
    ARGAND_CHECK(ShapeError, a.self.dim() >= 2, "rot90: expected total dims >= 2, but got total dims = ", a.self.dim());
    const Dims d = wrap_dims(a.dims, a.self.dim(), "rot90", false);
    switch (((a.k % 4) + 4) % 4) {
      case 1:
        return a.self.flip({d[1]}).transpose(d[0], d[1]);
      case 2:
        return a.self.flip(d);
      case 3:
        return a.self.flip({d[0]}).transpose(d[0], d[1]);
      default:
        return a.self.clone(MemoryFormat::Contiguous);
    }
  }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.add({s->real({2, 3, 4}), -1, {2, 0}});
    s.add({s->real({2, 3}), 2});
    s.fails({s->real({2})}, "rot90: expected total dims >= 2, but got total dims = 1");
    s.fails({s->real({2, 3}), 1, {0}}, "rot90: expected total rotation dims == 2, but got dims = 1");
  }
};
ARGAND_OP(Rot90)
ARGAND_NODE(Rot90)

struct Roll : Composite<RollArgs> {
  static constexpr auto schema = "roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor";
  static constexpr auto doc =
      "Shifted along dims, what leaves at one end returns at the other; without dims, as if flat.";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ValueError, !a.shifts.empty(), "roll: `shifts` required");
    if (a.dims.empty()) {
      ARGAND_CHECK(ValueError, a.shifts.size() == 1,
                   "roll: shifts and dimensions must align. shifts: ", a.shifts.size(), ", dims:0");
      return roll_one(a.self.reshape({-1}), a.shifts[0], 0).view(a.self.sizes());
    }
    ARGAND_CHECK(ValueError, a.shifts.size() == a.dims.size(),
                 "roll: shifts and dimensions must align. shifts: ", a.shifts.size(), ", dims:", a.dims.size());
    Tensor t = a.self;
    for (size_t i = 0; i < a.dims.size(); ++i) {
      ARGAND_CHECK(IndexError, t.dim() > 0, "roll: Dimension specified as ", a.dims[i],
                   " but tensor has no dimensions");
      t = roll_one(t, a.shifts[i], wrap_dim(a.dims[i], t.dim(), "roll"));
    }
    return t;
  }
  static Tensor roll_one(const Tensor& t, int64_t shift, int64_t dim) {
    const int64_t size = t.sizes()[dim];
    const int64_t by = size == 0 ? 0 : ((shift % size) + size) % size;
    if (by == 0) return t.clone(MemoryFormat::Contiguous);
    return cat({t.slice(dim, size - by), t.slice(dim, 0, size - by)}, dim);
  }
  static void samples(S& s) {
    s.add({s->real({4, 3}), {1}, {0}});
    s.add({s->real({4, 3}), {-5, 2}, {0, -1}});
    s.add({s->real({4, 3}), {2}});
    s.add({s->real({0, 3}), {2}, {0}});
    s.fails({s->real({4, 3}), {}, {0}}, "roll: `shifts` required");
    s.fails({s->real({4, 3}), {1, 2}, {0}}, "roll: shifts and dimensions must align. shifts: 2, dims:1");
    s.fails({s->real({4}), {1}, {1}}, "roll: Dimension out of range (expected to be in range of [-1, 0], but got 1)");
  }
};
ARGAND_OP(Roll)
ARGAND_NODE(Roll)

struct Repeat : Composite<RepeatArgs> {
  static constexpr auto schema = "repeat(Tensor self, int[] repeats) -> Tensor";
  static constexpr auto doc =
      "A copy with dimension i repeated repeats[i] times; more repeats than dimensions add leading ones.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) {
    const size_t n = a.repeats.size(), have = a.self.sizes().size();
    ARGAND_CHECK(
        ShapeError, n >= have,
        "repeat: Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor, got ",
        a.repeats, " for a tensor of sizes ", a.self.sizes());
    Dims apart, expanded, result;
    for (size_t i = 0; i < n; ++i) {
      ARGAND_CHECK(ValueError, a.repeats[i] >= 0, "repeat: Trying to create tensor with negative dimension ",
                   a.repeats[i], " in ", a.repeats);
      const int64_t size = i < n - have ? 1 : a.self.sizes()[i - (n - have)];
      apart.push_back(1), apart.push_back(size);
      expanded.push_back(a.repeats[i]), expanded.push_back(size);
      result.push_back(a.repeats[i] * size);
    }
    return a.self.reshape(apart).expand(expanded).clone(MemoryFormat::Contiguous).view(result);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), {2, 1}});
    s.add({s->real({3}), {2, 2}});
    s.add({s->real({}), {3}});
    s.add({s->real({2}), {0}});
    s.fails({s->real({2, 3}), {2}},
            "repeat: Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
    s.fails({s->real({2}), {-1}}, "repeat: Trying to create tensor with negative dimension -1");
  }
};
ARGAND_OP(Repeat)
ARGAND_NODE(Repeat)

struct Tile : Composite<TileArgs> {
  static constexpr auto schema = "tile(Tensor self, int[] dims) -> Tensor";
  static constexpr auto doc = "As repeat; missing leading repeats are 1.";
  static Tensor compose(const Args& a) {
    Dims repeats;
    for (int64_t i = static_cast<int64_t>(a.dims.size()); i < a.self.dim(); ++i) repeats.push_back(1);
    repeats.insert_all(a.dims);
    return a.self.repeat(repeats);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), {2}});
    s.add({s->real({2}), {3, 1}});
  }
};
ARGAND_OP(Tile)
ARGAND_NODE(Tile, "RepeatBackward0")

}  // namespace argand::ops
