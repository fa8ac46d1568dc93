// Joining tensors: cat, stack and the forms of them.
#include <algorithm>

#include "argand/exec/copy_each.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/channel_layout.h"
#include "argand/ops/define.h"
#include "argand/ops/join/args.h"

namespace argand::ops {
namespace {

void check_list(const char* op, const std::vector<Tensor>& tensors) {
  ARGAND_CHECK(ValueError, !tensors.empty(), op, ": expected a non-empty list of Tensors");
  for (size_t i = 0; i < tensors.size(); ++i)
    ARGAND_CHECK(ValueError, tensors[i].defined(), op, ": expected a tensor at position ", i,
                 " of the list, got an undefined one");
}

ScalarType common_dtype(const std::vector<Tensor>& tensors) {
  ScalarType t = tensors[0].dtype();
  for (const Tensor& x : tensors) t = promote_types(t, x.dtype());
  return t;
}

// A tensor of shape [0] joins any other: PyTorch keeps this from the time before tensors could be empty otherwise.
bool is_skipped(const Tensor& t) { return t.dim() == 1 && t.sizes()[0] == 0; }
bool is_skipped(IntArrayRef sizes) { return sizes.size() == 1 && sizes[0] == 0; }

// Whether `join` is quicker than a pointwise copy of each part: these are always converted on the way.
bool can_join(const std::vector<Tensor>& parts, const Tensor& out) {
  if (!out.is_contiguous()) return false;
  if (out.is_cpu()) return true;
  if (parts.size() <= exec::kFewCopies || !blocks::copy_pieces.has(out.device().type())) return false;
  return std::all_of(parts.begin(), parts.end(),
                     [&](const Tensor& t) { return t.is_contiguous() && t.dtype() == out.dtype(); });
}

// A contiguous `out`, seen as [outer, all, inner], is filled with the parts, each [outer, part, inner], one after the
// other.
void join(const std::vector<Tensor>& parts, const Dims& extents, int64_t dim, const Tensor& out) {
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < out.dim(); ++d) (d < dim ? outer : inner) *= d == dim ? 1 : out.sizes()[d];
  const int64_t row = (out.dim() > dim ? out.sizes()[dim] : 1) * inner * out.itemsize();
  char* to = static_cast<char*>(out.impl().data());
  std::vector<Tensor> held;
  std::vector<Piece> pieces;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].numel() == 0) continue;
    held.push_back(exec::dense(parts[i], out.dtype()));
    const int64_t nbytes = extents[i] * inner * out.itemsize();
    pieces.push_back({to, held.back().impl().data(), outer, nbytes, row, nbytes});
    if (outer == 1 || nbytes == row) pieces.back() = {to, held.back().impl().data(), 1, outer * nbytes, 0, 0};
    to += nbytes;
  }
  blocks::copy_pieces.on(out.device())(pieces.data(), static_cast<int64_t>(pieces.size()));
}

}  // namespace

struct Cat : Kernel<CatArgs> {
  static constexpr auto schema = "cat(Tensor[] tensors, int dim=0) -> Tensor";
  static constexpr const char* overloads[] = {"concat(Tensor[] tensors, int dim=0) -> Tensor",
                                              "concatenate(Tensor[] tensors, int dim=0) -> Tensor"};
  static constexpr auto doc =
      "The tensors one after the other along dim; their other sizes are equal, their dtypes promote. A tensor of shape "
      "[0] "
      "is left out.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kPromote;
  static constexpr int variants = kFunction | kOut;
  static const Tensor& lead(const Args& a) {
    for (const Tensor& t : a.tensors)
      if (!is_skipped(t)) return t;
    return a.tensors[0];
  }
  static TensorMeta infer(const Args& a) {
    check_list("cat", a.tensors);
    const Tensor& first = lead(a);
    for (size_t i = 0; i < a.tensors.size(); ++i)
      ARGAND_CHECK(ShapeError, a.tensors[i].dim() > 0, "cat: zero-dimensional tensor (at position ", i,
                   ") cannot be concatenated");
    if (is_skipped(first)) return {first.impl().sizes, common_dtype(a.tensors)};  // all are: dim says nothing
    const int64_t dim = wrap_dim(a.dim, first.dim(), "cat");
    TensorMeta meta{first.impl().sizes, common_dtype(a.tensors)};
    bool channels_last = true;
    meta.sizes[dim] = 0;
    for (size_t i = 0; i < a.tensors.size(); ++i) {
      const Tensor& t = a.tensors[i];
      if (is_skipped(t)) continue;
      ARGAND_CHECK(ShapeError, t.dim() == first.dim(), "cat: Tensors must have same number of dimensions: got ",
                   first.dim(), " and ", t.dim());
      for (int64_t d = 0; d < t.dim(); ++d)
        ARGAND_CHECK(ShapeError, d == dim || t.sizes()[d] == first.sizes()[d],
                     "cat: Sizes of tensors must match except in dimension ", dim, ". Expected size ", first.sizes()[d],
                     " but got size ", t.sizes()[d], " for tensor number ", i, " in the list.");
      meta.sizes[dim] += t.sizes()[dim];
      channels_last &= has_channels_last(t);
    }
    if (channels_last) meta.strides = channel_strides(meta.sizes, true);
    return meta;
  }
  static void run(const Args& a, Tensor& out) {
    if (out.numel() == 0) return;
    const int64_t dim = wrap_dim(a.dim, out.dim(), "cat");
    Dims extents;
    for (const Tensor& t : a.tensors) extents.push_back(is_skipped(t) ? 0 : t.sizes()[dim]);
    if (can_join(a.tensors, out)) return join(a.tensors, extents, dim, out);
    int64_t done = 0;
    for (size_t i = 0; i < a.tensors.size(); ++i) {
      if (a.tensors[i].numel() == 0) continue;
      exec::copy_elements(exec::alias(out, a.tensors[i].impl().sizes, out.impl().strides,
                                      out.storage_offset() + done * out.strides()[dim]),
                          a.tensors[i]);
      done += extents[i];
    }
  }
  static Grads grad(const Ctx& c, const Tensor& g) {
    Grads out(c.num_tensors());
    int64_t done = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      const Dims& sizes = c.sizes(i);
      if (is_skipped(sizes)) {
        if (c.needs(i)) out[i] = zeros({0}, g.options());
        continue;
      }
      const int64_t dim = wrap_dim(c.dim, g.dim(), "cat");
      if (c.needs(i)) out[i] = g.narrow(dim, done, sizes[dim]);
      done += sizes[dim];
    }
    return out;
  }
  static void samples(S& s) {
    s.add({{s->real({2, 3}), s->real({1, 3})}, 0});
    s.add({{s->real({2, 3}), s->real({2, 2}), s->real({2, 0})}, -1});
    s.add({{s->real({2, 1, 3}), s->real({2, 2, 3})}, 1});
    s.add({{s->real({0}), s->real({2, 3})}, 1});
    s.add({{s->real({2, 1}), s->real({2, 3}), s->real({2, 0}), s->real({2, 2}), s->real({2, 4})}, 1});
    s.add({{s->real({1, 2}), s->real({3, 2}), s->real({2, 2}), s->real({4, 2}), s->real({1, 2})}, 0});
    s.add({{s->real({3})}, 0});
    s.fails({{}, 0}, "cat: expected a non-empty list of Tensors");
    s.fails({{s->real({}), s->real({})}, 0}, "cat: zero-dimensional tensor (at position 0) cannot be concatenated");
    s.fails({{s->real({2, 3}), s->real({2, 4})}, 0},
            "cat: Sizes of tensors must match except in dimension 0. Expected size 3 but got size 4");
    s.fails({{s->real({2, 3}), s->real({2})}, 0}, "cat: Tensors must have same number of dimensions: got 2 and 1");
    s.fails({{s->real({2, 3})}, 2}, "cat: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(Cat)

struct Stack : Kernel<StackArgs> {
  static constexpr auto schema = "stack(Tensor[] tensors, int dim=0) -> Tensor";
  static constexpr auto doc = "Tensors of equal shape along a new dimension dim; their dtypes promote.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kPromote;
  static constexpr int variants = kFunction | kOut;
  static TensorMeta infer(const Args& a) {
    check_list("stack", a.tensors);
    const Tensor& first = a.tensors[0];
    const int64_t dim = wrap_dim(a.dim, first.dim() + 1, "stack");
    for (size_t i = 1; i < a.tensors.size(); ++i)
      ARGAND_CHECK(ShapeError, a.tensors[i].sizes() == first.sizes(),
                   "stack: expects each tensor to be equal size, but got ", first.sizes(), " at entry 0 and ",
                   a.tensors[i].sizes(), " at entry ", i);
    TensorMeta meta{first.impl().sizes, common_dtype(a.tensors)};
    meta.sizes.insert(meta.sizes.begin() + dim, static_cast<int64_t>(a.tensors.size()));
    return meta;
  }
  static void run(const Args& a, Tensor& out) {
    const int64_t dim = wrap_dim(a.dim, out.dim(), "stack");
    if (can_join(a.tensors, out)) return join(a.tensors, Dims(a.tensors.size(), 1), dim, out);
    for (size_t i = 0; i < a.tensors.size(); ++i)
      exec::copy_elements(out.select(dim, static_cast<int64_t>(i)), a.tensors[i]);
  }
  static Grads grad(const Ctx& c, const Tensor& g) {
    Grads out(c.num_tensors());
    for (size_t i = 0; i < out.size(); ++i)
      if (c.needs(i)) out[i] = g.select(c.dim, static_cast<int64_t>(i));
    return out;
  }
  static void samples(S& s) {
    s.add({{s->real({2, 3}), s->real({2, 3})}, 0});
    s.add({{s->real({2, 3}), s->real({2, 3}), s->real({2, 3})}, -1});
    s.add({{s->real({2, 3}), s->real({2, 3})}, 1});
    s.add({{s->real({2, 3}), s->real({2, 3}), s->real({2, 3}), s->real({2, 3})}, 1});
    s.add({{s->real({}), s->real({})}, 0});
    s.add({{s->real({0, 2}), s->real({0, 2})}, 1});
    s.fails({{s->real({2}), s->real({3})}, 0},
            "stack: expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1");
    s.fails({{}, 0}, "stack: expected a non-empty list of Tensors");
    s.fails({{s->real({2})}, 2}, "stack: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(Stack)

// ---- forms with at least one, two or three dimensions

struct AtLeast1d : Composite<AtLeast1dArgs> {
  static constexpr auto schema = "atleast_1d(Tensor self) -> Tensor";
  static constexpr auto doc = "A number as a tensor of one element; anything else as it is.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return a.self.dim() == 0 ? a.self.reshape({1}) : a.self; }
  static void samples(S& s) {
    s.add({s->real({})});
    s.add({s->real({2, 3})});
  }
};
ARGAND_OP(AtLeast1d)

struct AtLeast2d : Composite<AtLeast2dArgs> {
  static constexpr auto schema = "atleast_2d(Tensor self) -> Tensor";
  static constexpr auto doc = "A number or a vector as a matrix of one row; anything else as it is.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    if (a.self.dim() == 0) return a.self.reshape({1, 1});
    return a.self.dim() == 1 ? a.self.unsqueeze(0) : a.self;
  }
  static void samples(S& s) {
    s.add({s->real({})});
    s.add({s->real({3})});
  }
};
ARGAND_OP(AtLeast2d)

struct AtLeast3d : Composite<AtLeast3dArgs> {
  static constexpr auto schema = "atleast_3d(Tensor self) -> Tensor";
  static constexpr auto doc = "A vector of n as [1, n, 1], a matrix as [m, n, 1].";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    if (a.self.dim() == 0) return a.self.reshape({1, 1, 1});
    if (a.self.dim() == 1) return a.self.unsqueeze(0).unsqueeze(-1);
    return a.self.dim() == 2 ? a.self.unsqueeze(-1) : a.self;
  }
  static void samples(S& s) {
    s.add({s->real({3})});
    s.add({s->real({2, 3})});
  }
};
ARGAND_OP(AtLeast3d)

namespace {

template <class F>
std::vector<Tensor> each_of(const std::vector<Tensor>& tensors, F f) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(f(t));
  return out;
}

}  // namespace

struct AtLeast1dSequence : Composite<AtLeast1dSequenceArgs> {
  static constexpr auto schema = "atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]";
  static constexpr auto doc = "atleast_1d of each tensor.";
  static constexpr int variants = kFunction;
  static constexpr bool python_one_by_one = true;
  static std::vector<Tensor> compose(const Args& a) {
    return each_of(a.tensors, [](const Tensor& t) { return atleast_1d(t); });
  }
  static void samples(S& s) { s.add({{s->real({}), s->real({2}), s->real({2, 3})}}); }
};
ARGAND_OP(AtLeast1dSequence)

struct AtLeast2dSequence : Composite<AtLeast2dSequenceArgs> {
  static constexpr auto schema = "atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]";
  static constexpr auto doc = "atleast_2d of each tensor.";
  static constexpr int variants = kFunction;
  static constexpr bool python_one_by_one = true;
  static std::vector<Tensor> compose(const Args& a) {
    return each_of(a.tensors, [](const Tensor& t) { return atleast_2d(t); });
  }
  static void samples(S& s) { s.add({{s->real({}), s->real({2}), s->real({2, 3})}}); }
};
ARGAND_OP(AtLeast2dSequence)

struct AtLeast3dSequence : Composite<AtLeast3dSequenceArgs> {
  static constexpr auto schema = "atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]";
  static constexpr auto doc = "atleast_3d of each tensor.";
  static constexpr int variants = kFunction;
  static constexpr bool python_one_by_one = true;
  static std::vector<Tensor> compose(const Args& a) {
    return each_of(a.tensors, [](const Tensor& t) { return atleast_3d(t); });
  }
  static void samples(S& s) { s.add({{s->real({}), s->real({2}), s->real({2, 3})}}); }
};
ARGAND_OP(AtLeast3dSequence)

struct Hstack : Composite<HstackArgs> {
  static constexpr auto schema = "hstack(Tensor[] tensors) -> Tensor";
  static constexpr auto doc = "cat along dimension 1; vectors along dimension 0.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    check_list("hstack", a.tensors);
    std::vector<Tensor> parts;
    for (const Tensor& t : a.tensors) parts.push_back(atleast_1d(t));
    return cat(parts, parts[0].dim() == 1 ? 0 : 1);
  }
  static void samples(S& s) {
    s.add({{s->real({2}), s->real({}), s->real({3})}});
    s.add({{s->real({2, 1}), s->real({2, 3})}});
    s.fails({{}}, "hstack: expected a non-empty list of Tensors");
  }
};
ARGAND_OP(Hstack)

struct Vstack : Composite<VstackArgs> {
  static constexpr auto schema = "vstack(Tensor[] tensors) -> Tensor";
  static constexpr const char* overloads[] = {"row_stack(Tensor[] tensors) -> Tensor"};
  static constexpr auto doc = "cat along dimension 0; a vector is a row.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    check_list("vstack", a.tensors);
    std::vector<Tensor> parts;
    for (const Tensor& t : a.tensors) parts.push_back(atleast_2d(t));
    return cat(parts, 0);
  }
  static void samples(S& s) {
    s.add({{s->real({3}), s->real({2, 3})}});
    s.fails({{}}, "vstack: expected a non-empty list of Tensors");
  }
};
ARGAND_OP(Vstack)

struct Dstack : Composite<DstackArgs> {
  static constexpr auto schema = "dstack(Tensor[] tensors) -> Tensor";
  static constexpr auto doc = "cat along dimension 2 of what atleast_3d gives.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    check_list("dstack", a.tensors);
    std::vector<Tensor> parts;
    for (const Tensor& t : a.tensors) parts.push_back(atleast_3d(t));
    return cat(parts, 2);
  }
  static void samples(S& s) {
    s.add({{s->real({2, 3}), s->real({2, 3, 2})}});
    s.fails({{}}, "dstack: expected a non-empty list of Tensors");
  }
};
ARGAND_OP(Dstack)

struct ColumnStack : Composite<ColumnStackArgs> {
  static constexpr auto schema = "column_stack(Tensor[] tensors) -> Tensor";
  static constexpr auto doc = "cat along dimension 1; a vector is a column.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    check_list("column_stack", a.tensors);
    std::vector<Tensor> parts;
    for (const Tensor& t : a.tensors) parts.push_back(t.dim() <= 1 ? t.reshape({t.numel(), 1}) : t);
    return cat(parts, 1);
  }
  static void samples(S& s) {
    s.add({{s->real({2}), s->real({2, 3})}});
    s.fails({{}}, "column_stack: expected a non-empty list of Tensors");
  }
};
ARGAND_OP(ColumnStack)

}  // namespace argand::ops
