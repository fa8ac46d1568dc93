// Diagonals and sliding windows as views: diagonal, unfold; and matrices from diagonals: diag_embed, diag, diagflat.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/overlap_add.h"
#include "argand/ops/view/args.h"

namespace argand::ops {

struct Diagonal : View<DiagonalArgs> {
  static constexpr auto schema = "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)";
  static constexpr auto doc = "The diagonal of two dimensions as the last dimension; offset > 0 is above the main one.";
  static ViewLayout view(const Args& a) {
    const int64_t d1 = wrap_dim(a.dim1, a.self.dim(), "diagonal"), d2 = wrap_dim(a.dim2, a.self.dim(), "diagonal");
    ARGAND_CHECK(ShapeError, a.self.dim() >= 2, "diagonal: expected a tensor of at least 2 dimensions, got sizes ",
                 a.self.sizes());
    ARGAND_CHECK(ValueError, d1 != d2, "diagonal: diagonal dimensions cannot be identical ", a.dim1, ", ", a.dim2);
    const auto sizes = a.self.sizes();
    const auto strides = a.self.strides();
    const int64_t length = std::max<int64_t>(
        a.offset >= 0 ? std::min(sizes[d1], sizes[d2] - a.offset) : std::min(sizes[d1] + a.offset, sizes[d2]), 0);
    ViewLayout v{{}, {}, a.self.storage_offset()};
    if (length > 0) v.offset += a.offset >= 0 ? a.offset * strides[d2] : -a.offset * strides[d1];
    for (int64_t d = 0; d < a.self.dim(); ++d) {
      if (d == d1 || d == d2) continue;
      v.sizes.push_back(sizes[d]);
      v.strides.push_back(strides[d]);
    }
    v.sizes.push_back(length);
    v.strides.push_back(strides[d1] + strides[d2]);
    return v;
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor out = g.new_zeros(c.sizes(kSelf));
    out.diagonal(c.DiagonalArgs::offset, c.dim1, c.dim2).copy_(g);
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({3, 4})});
    s.add({s->real({3, 4}), 2});
    s.add({s->real({2, 3, 4}), -1, 0, -1});
    s.add({s->real({3, 4}), 7});
    s.fails({s->real({3, 4}), 0, 1, -1}, "diagonal: diagonal dimensions cannot be identical 1, -1");
    s.fails({s->real({3, 4}), 0, 0, 2},
            "diagonal: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(Diagonal)

struct Unfold : View<UnfoldArgs> {
  static constexpr auto schema = "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)";
  static constexpr auto doc =
      "All windows of `size` along a dimension, `step` apart; the window is the last dimension.";
  static constexpr int variants = kMethod | kCopy;
  static ViewLayout view(const Args& a) {
    const int64_t d = wrap_dim(a.dimension, a.self.dim(), "unfold");
    const int64_t extent = a.self.dim() == 0 ? 1 : a.self.sizes()[d],
                  stride = a.self.dim() == 0 ? 1 : a.self.strides()[d];
    ARGAND_CHECK(ValueError, a.size >= 0, "unfold: size is ", a.size, " but must be >= 0");
    ARGAND_CHECK(ValueError, a.size <= extent, "unfold: maximum size for tensor at dimension ", d, " is ", extent,
                 " but size is ", a.size);
    ARGAND_CHECK(ValueError, a.step > 0, "unfold: step is ", a.step, " but must be > 0");
    ViewLayout v{a.self.impl().sizes, a.self.impl().strides, a.self.storage_offset()};
    if (a.self.dim() > 0) {
      v.sizes[d] = (extent - a.size) / a.step + 1;
      // A step that is too long for this leaves no second window.
      if (int64_t wider; !__builtin_mul_overflow(stride, a.step, &wider)) v.strides[d] = wider;
    }
    v.sizes.push_back(a.size);
    v.strides.push_back(stride);
    return v;
  }
  // Windows overlap, so each element of g is added to the position it was read from.
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    if (c.sizes(kSelf).empty()) return g.sum();
    const int64_t d = wrap_dim(c.dimension, c.ndim(kSelf), "unfold");
    const Tensor sum = overlap_add(g.movedim(d, -2), c.step);
    const int64_t missing = c.sizes(kSelf)[d] - sum.size(-1);  // elements that are in no window
    return (missing == 0 ? sum : constant_pad_nd(sum, {0, missing})).movedim(-1, d);
  }
  static void samples(S& s) {
    s.add({s->real({7}), 0, 3, 2});
    s.add({s->real({2, 5, 3}), 1, 2, 1});
    s.add({s->real({9, 2}), 0, 2, 3});  // gaps between windows
    s.add({s->real({}), 0, 1, 1});
    s.fails({s->real({3}), 0, 4, 1}, "unfold: maximum size for tensor at dimension 0 is 3 but size is 4");
    s.fails({s->real({3}), 0, 1, 0}, "unfold: step is 0 but must be > 0");
  }
};
ARGAND_OP(Unfold)

struct DiagEmbed : Composite<DiagEmbedArgs> {
  static constexpr auto schema = "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor";
  static constexpr auto doc =
      "Zeros with the last dimension of self as the diagonal of two new dimensions dim1 and dim2.";
  static Tensor compose(const Args& a) {
    const int64_t ndim = a.self.dim() + 1;
    ARGAND_CHECK(ShapeError, a.self.dim() > 0,
                 "diag_embed: expected a tensor of at least 1 dimension, got a 0-dim one");
    const int64_t d1 = wrap_dim(a.dim1, ndim, "diag_embed"), d2 = wrap_dim(a.dim2, ndim, "diag_embed");
    ARGAND_CHECK(ValueError, d1 != d2, "diag_embed: diagonal dimensions cannot be identical ", a.dim1, ", ", a.dim2);
    const int64_t n = a.self.sizes().back() + std::abs(a.offset);
    Dims sizes = a.self.impl().sizes;
    sizes.pop_back();
    sizes.insert(sizes.begin() + std::min(d1, d2), n);
    sizes.insert(sizes.begin() + std::max(d1, d2), n);
    const Tensor out = zeros(sizes, a.self.options());
    out.diagonal(a.offset, d1, d2).copy_(a.self);
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({3})});
    s.add({s->real({2, 3}), 1});
    s.add({s->real({2, 3}), -1, 0, 2});
    s.fails({s->real({3}), 0, 0, -2}, "diag_embed: diagonal dimensions cannot be identical 0, -2");
  }
};
ARGAND_OP(DiagEmbed)
ARGAND_NODE(DiagEmbed)

struct Diag : Composite<DiagArgs> {
  static constexpr auto schema = "diag(Tensor self, int diagonal=0) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The matrix with a vector on its diagonal, or a copy of the diagonal of a matrix.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() == 1 || a.self.dim() == 2, "diag: Supports 1D or 2D tensors. Got ",
                 a.self.dim(), "D");
    return a.self.dim() == 1 ? diag_embed(a.self, a.diagonal)
                             : a.self.diagonal(a.diagonal).clone(MemoryFormat::Contiguous);
  }
  static void samples(S& s) {
    s.add({s->real({3})});
    s.add({s->real({3}), -1});
    s.add({s->real({3, 4}), 1});
    s.fails({s->real({2, 2, 2})}, "diag: Supports 1D or 2D tensors. Got 3D");
  }
};
ARGAND_OP(Diag)
ARGAND_NODE(Diag, [](const DiagArgs& a) { return a.self.dim() == 1 ? "DiagEmbedBackward0" : "DiagonalBackward0_copy"; })

struct Diagflat : Composite<DiagflatArgs> {
  static constexpr auto schema = "diagflat(Tensor self, int offset=0) -> Tensor";
  static constexpr auto doc = "The matrix with all elements on a diagonal.";
  static Tensor compose(const Args& a) { return a.self.reshape({-1}).diag(a.offset); }
  static void samples(S& s) {
    s.add({s->real({3})});
    s.add({s->real({2, 2}), -1});
    s.add({s->real({})});
  }
};
ARGAND_OP(Diagflat)
ARGAND_NODE(Diagflat, "DiagEmbedBackward0")

struct FillDiagonalInplace : Composite<FillDiagonalInplaceArgs> {
  static constexpr auto schema = "fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)";
  static constexpr auto doc =
      "Fills the diagonal of a matrix, or of a tensor of equal sizes; wrap: again and again down a tall matrix.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) {
    const int64_t ndim = a.self.dim();
    ARGAND_CHECK(ShapeError, ndim >= 2, "fill_diagonal_: dimensions must larger than 1");
    const auto sizes = a.self.sizes();
    const bool equal = std::all_of(sizes.begin(), sizes.end(), [&](int64_t n) { return n == sizes[0]; });
    ARGAND_CHECK(ShapeError, ndim == 2 || equal, "fill_diagonal_: all dimensions of input must be of equal length");
    int64_t step = 0;
    for (const int64_t stride : a.self.strides()) step += stride;
    const auto fill = [&](int64_t from_row, int64_t count) {
      const int64_t at = a.self.storage_offset() + from_row * a.self.strides()[0];
      a.self.as_strided({count}, {step}, at).fill_(a.fill_value);
    };
    const int64_t least = *std::min_element(sizes.begin(), sizes.end());
    fill(0, least);
    // Each further diagonal begins one row below the end of the last.
    if (a.wrap && ndim == 2 && least > 0)
      for (int64_t row = sizes[1] + 1; row < sizes[0]; row += sizes[1] + 1)
        fill(row, std::min(sizes[1], sizes[0] - row));
    return a.self;
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), 1.5});
    s.add({s->real({7, 3}), 2, true});
    s.add({s->real({2, 2, 2}), 2});
    s.fails({s->real({3}), 1}, "fill_diagonal_: dimensions must larger than 1");
    s.fails({s->real({3, 2, 2}), 1}, "fill_diagonal_: all dimensions of input must be of equal length");
  }
};
ARGAND_OP(FillDiagonalInplace)

}  // namespace argand::ops
