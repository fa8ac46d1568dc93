// Slices along one dimension, chosen by a vector of indices: index_select, index_add, index_copy, index_fill, take.
#include "argand/kernels/cpu/rows.h"

#include <algorithm>

#include "argand/base/checked.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/index/args.h"
#include "argand/ops/index/bounds.h"
#include "argand/ops/node_name.h"
#include "argand/ops/number_fits.h"
#include "argand/ops/numbers_on.h"

namespace argand::ops {
namespace {

void check_vector(const char* op, const Tensor& index) {
  check_index_dtype(op, index);
  ARGAND_CHECK(IndexError, index.dim() <= 1, op, ": Index is supposed to be a vector, but got sizes ", index.sizes());
}

// self[index[k]] and source[k] must be slices of the same shape.
void check_source(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  check_vector(op, index);
  ARGAND_CHECK(DtypeError, self.dtype() == source.dtype(), op, ": self (", self.dtype(), ") and source (",
               source.dtype(), ") must have the same scalar type");
  ARGAND_CHECK(IndexError, index.numel() == size_at(source, std::min(dim, std::max<int64_t>(source.dim() - 1, 0))), op,
               ": Number of indices (", index.numel(), ") should be equal to the size of source at dimension ", dim,
               ", source has sizes ", source.sizes());
  Dims slice = self.impl().sizes, given = source.impl().sizes;
  if (!slice.empty()) slice.erase(slice.begin() + dim);
  if (static_cast<int64_t>(given.size()) > dim) given.erase(given.begin() + dim);
  ARGAND_CHECK(
      ShapeError, slice == given, op,
      ": source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = ",
      self.sizes(), " source.shape = ", source.sizes());
}

RowBlock block_of(const Tensor& t, int64_t dim) {
  const DimSplit a(t.sizes(), dim);
  return {a.outer, a.size, a.inner};
}

}  // namespace

struct IndexSelect : Kernel<IndexSelectArgs> {
  static constexpr auto schema = "index_select(Tensor self, int dim, Tensor index) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The slices of self at the positions in index (a vector, int32 or int64) along dim.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static TensorMeta infer(const Args& a) {
    const int64_t dim = wrap_dim(a.dim, a.self.dim(), "index_select");
    check_vector("index_select", a.index);
    TensorMeta meta{a.self.impl().sizes, a.self.dtype()};
    if (a.self.dim() > 0)
      meta.sizes[dim] = a.index.numel();
    else
      ARGAND_CHECK(IndexError, a.index.numel() == 1, "index_select: a 0-dim tensor takes one index, got ",
                   a.index.numel());
    return meta;
  }
  static void run(const Args& a, Tensor& out) {
    const int64_t dim = wrap_dim(a.dim, a.self.dim(), "index_select");
    ARGAND_CHECK(IndexError, size_at(a.self, dim) > 0 || a.index.numel() == 0,
                 "index_select: self indexing axis dim should be positive, but dimension ", dim, " has size 0");
    const Tensor index =
        checked_index("index_select: INDICES element is out of DATA bounds", a.index, size_at(a.self, dim), dim);
    if (out.numel() == 0) return;
    const Tensor from = exec::dense(a.self);
    blocks::take_rows.on(out.device())(from.impl().data(), block_of(from, dim), from.itemsize(), numbers_in(index),
                                       index.numel(), out.impl().data());
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return zeros(c.sizes(kSelf), g.options()).index_add(c.dim, c.index, g);
  }
  static void samples(S& s) {
    s.add({s->real({4, 3}), 0, s->integer({5}, 0, 4)});
    s.add({s->real({2, 3, 4}), -1, s->integer({2}, 0, 4)});
    s.add({s->real({2, 3, 4}), 1, s->integer({}, 0, 3)});
    s.add({s->real({3}), 0, s->integer({0}, 0, 3)});
    s.add({s->real({}), 0, s->integer({1}, 0, 1)});
    s.fails(
        {s->real({4, 3}), 0, s->integer({2}, 4, 5)},
        "index_select: INDICES element is out of DATA bounds: index 4 is out of bounds for dimension 0 with size 4");
    s.fails({s->real({4, 3}), 0, s->integer({2, 2}, 0, 4)}, "index_select: Index is supposed to be a vector");
    s.fails({s->real({4, 3}), 0, s->real({2})}, "index_select: expected dtype int32/int64 for index, got float64");
  }
};
ARGAND_OP(IndexSelect)

struct IndexAdd : Kernel<IndexAddArgs> {
  static constexpr auto schema =
      "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "Adds alpha * source[k] to self[index[k]] along dim, in the order of index: deterministic.";
  static constexpr int variants = kFunction | kMethod | kInplace | kOut;
  static constexpr bool starts_from_self = true;
  static TensorMeta infer(const Args& a) {
    check_source("index_add", a.self, wrap_dim(a.dim, a.self.dim(), "index_add"), a.index, a.source);
    check_fits("index_add", a.alpha, a.self.dtype());
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const int64_t dim = wrap_dim(a.dim, out.dim(), "index_add");
    const Tensor index = checked_index("index_add", a.index, size_at(out, dim), dim);
    const Tensor given = a.source;
    const Scalar alpha = is_integral(out.dtype()) ? Scalar(a.alpha.to<int64_t>()) : a.alpha;  // as PyTorch casts it
    const Tensor source =
        exec::dense_clone(alpha.equal(1) ? given : given * alpha, out.dtype());  // bool times 2 is an integer
    blocks::add_rows.on(out.device())(out.impl().data(), block_of(out, dim), out.dtype(), numbers_in(index),
                                      index.numel(), source.impl().data());
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g; }
  static Tensor grad_source(const Ctx& c, const Tensor& g) {
    const Tensor t = g.index_select(c.dim, c.index).reshape(c.sizes(kSource));
    return c.alpha.equal(1) ? t : t * c.alpha;
  }
  static void samples(S& s) {
    s.add({s->real({4, 3}), 0, s->integer({5}, 0, 4), s->real({5, 3})});
    s.add({s->real({2, 4, 3}), 1, s->integer({3}, 0, 4), s->real({2, 3, 3}), 2});
    s.add({s->real({3}), 0, s->integer({}, 0, 3), s->real({})});
    s.add({s->integer({4, 3}, -5, 5), 0, s->integer({5}, 0, 4), s->integer({5, 3}, -5, 5), 2.5});
    s.fails({s->real({4, 3}), 0, s->integer({2}, 0, 4), s->real({2, 3}), std::complex<double>(0, 1)},
            "index_add: value cannot be converted to type double without overflow");
    s.fails({s->real({4, 3}), 0, s->integer({2}, 4, 5), s->real({2, 3})},
            "index_add: index 4 is out of bounds for dimension 0 with size 4");
    s.fails({s->real({4, 3}), 0, s->integer({2}, 0, 4), s->real({3, 3})},
            "index_add: Number of indices (2) should be equal to the size of source");
    s.fails({s->real({4, 3}), 0, s->integer({2}, 0, 4), s->real({2, 2})},
            "index_add: source tensor shape must match self tensor shape, excluding the specified dimension");
  }
};
ARGAND_OP(IndexAdd)

struct IndexCopy : Kernel<IndexCopyArgs> {
  static constexpr auto schema = "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "Writes source[k] to self[index[k]] along dim; of equal indices the last one counts.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kPromote;
  static constexpr int variants = kFunction | kMethod | kInplace | kOut;
  static constexpr bool starts_from_self = true;
  static TensorMeta infer(const Args& a) {
    check_source("index_copy", a.self, wrap_dim(a.dim, a.self.dim(), "index_copy"), a.index, a.source);
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const int64_t dim = wrap_dim(a.dim, out.dim(), "index_copy");
    const Tensor index = checked_index("index_copy", a.index, size_at(out, dim), dim), source = exec::dense(a.source);
    if (source.numel() == 0) return;
    blocks::put_rows.on(out.device())(out.impl().data(), block_of(out, dim), out.itemsize(), numbers_in(index),
                                      index.numel(), source.impl().data());
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.index_fill(c.dim, c.index, 0); }
  static Tensor grad_source(const Ctx& c, const Tensor& g) {
    return g.index_select(c.dim, c.index).reshape(c.sizes(kSource));
  }
  static void samples(S& s) {
    const Tensor index = s->integer({2}, 0, 1);
    raw<int64_t>(index)[1] = 3;
    s.add({s->real({4, 3}), 0, index, s->real({2, 3})});
    s.add({s->real({2, 4}), 1, index, s->real({2, 2})});
    s.fails({s->real({4, 3}), 0, s->integer({2}, 4, 5), s->real({2, 3})},
            "index_copy: index 4 is out of bounds for dimension 0 with size 4");
    s.fails({s->real({4, 3}), 0, index, s->real({2, 2})},
            "index_copy: source tensor shape must match self tensor shape, excluding the specified dimension");
  }
};
ARGAND_OP(IndexCopy)

struct IndexFill : Kernel<IndexFillArgs> {
  static constexpr auto schema = "index_fill(Tensor self, int dim, Tensor index, Tensor|Scalar value) -> Tensor";
  static constexpr auto doc = "Writes a value (a number or 0-dim tensor) to the slices at index along dim.";
  static constexpr int variants = kFunction | kMethod | kInplace;
  static constexpr bool starts_from_self = true;
  static constexpr uint32_t number_arguments = bits(kValue);
  static TensorMeta infer(const Args& a) {
    wrap_dim(a.dim, a.self.dim(), "index_fill");
    check_vector("index_fill", a.index);
    ARGAND_CHECK(ShapeError, a.value.dim() == 0,
                 "index_fill: only supports a 0-dimensional value tensor, but got tensor with ", a.value.dim(),
                 " dimension(s).");
    ARGAND_CHECK(DtypeError, a.self.is_complex() || !a.value.is_complex(),
                 "index_fill: Converting complex Scalar to non-complex type is not supported, got one of ",
                 a.value.dtype(), " for a tensor of ", a.self.dtype());
    check_fits("index_fill", a.value, a.self.dtype());
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const int64_t dim = wrap_dim(a.dim, out.dim(), "index_fill");
    const Tensor index = checked_index("index_fill", a.index, size_at(out, dim), dim);
    if (out.numel() == 0) return;
    const DimSplit split(out.sizes(), dim);
    // On the CPU one slice serves all.
    const int64_t slices = out.is_cpu() ? 1 : split.outer * index.numel();
    const Tensor values = exec::new_tensor({{slices, split.inner}, out.dtype()}, out.device());
    exec::copy_elements(values, a.value);
    if (!out.is_cpu())
      return blocks::put_rows.on(out.device())(out.impl().data(), block_of(out, dim), out.itemsize(), numbers_in(index),
                                               index.numel(), values.impl().data());
    const int64_t zero = 0;
    for (int64_t o = 0; o < split.outer; ++o) {
      char* at = static_cast<char*>(out.impl().data()) + o * split.size * split.inner * out.itemsize();
      for (int64_t k = 0; k < index.numel(); ++k)
        cpu::put_rows(at + raw<int64_t>(index)[k] * split.inner * out.itemsize(), {1, 1, split.inner}, out.itemsize(),
                      &zero, 1, values.impl().data());
    }
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.index_fill(c.dim, c.index, 0); }
  static Tensor grad_value(const Ctx& c, const Tensor& g) {
    return g.index_select(c.dim, std::get<0>(_unique2(c.index))).sum();
  }
  static void samples(S& s) {
    s.add({s->real({4, 3}), 0, s->integer({1}, 0, 4), exec::wrapped_number(1.5)});
    s.add({s->real({2, 4}), 1, s->integer({1}, 0, 4), s->real({})});
    s.fails({s->real({4}), 0, s->integer({1}, 4, 5), exec::wrapped_number(1)},
            "index_fill: index 4 is out of bounds for dimension 0 with size 4");
    s.fails({s->real({4}), 0, s->integer({1}, 0, 4), s->real({2})},
            "index_fill: only supports a 0-dimensional value tensor, but got tensor with 1");
  }
};
ARGAND_OP(IndexFill)
ARGAND_NODE(IndexFill, [](const IndexFillArgs& a) { return is_number(a.value) ? nullptr : "IndexFillBackward1"; })

struct Take : Kernel<TakeArgs> {
  static constexpr auto schema = "take(Tensor self, Tensor index) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The elements at these positions of self seen as flat; negative ones count from the end.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(DtypeError, a.index.dtype() == kLong, "take: Expected a long tensor for index, but got ",
                 a.index.dtype());
    return {a.index.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const Tensor index = checked_index("take", a.index, a.self.numel(), 0, true);
    if (out.numel() == 0) return;
    const Tensor from = exec::dense(a.self);
    blocks::take_rows.on(out.device())(from.impl().data(), {1, from.numel(), 1}, from.itemsize(), numbers_in(index),
                                       index.numel(), out.impl().data());
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor flat = zeros({numel_of(c.sizes(kSelf))}, g.options());
    return _index_put(flat, {c.index.reshape({-1})}, g.reshape({-1}), true).view(c.sizes(kSelf));
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), s->integer({2, 2}, -12, 12)});
    s.add({s->real({}), s->integer({3}, -1, 1)});
    s.fails({s->real({3, 4}), s->integer({2}, 12, 13)}, "take: index 12 is out of bounds for dimension 0 with size 12");
    s.fails({s->real({3}), s->real({2})}, "take: Expected a long tensor for index, but got float64");
  }
};
ARGAND_OP(Take)

void check_output_size(const std::optional<int64_t>& given, int64_t found) {
  ARGAND_CHECK(ShapeError, !given || *given == found, "repeat_interleave: Invalid output_size, expected ", found,
               " but got ", given.value_or(0));
}

struct RepeatInterleave : Composite<RepeatInterleaveArgs> {
  static constexpr auto schema =
      "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor";
  static constexpr auto doc = "Every element along dim (of the flat tensor if none) `repeats` times in a row.";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ValueError, a.repeats >= 0, "repeat_interleave: repeats can not be negative, got ", a.repeats);
    const Tensor t = a.dim ? a.self : a.self.reshape({-1});
    const int64_t size = t.dim() ? size_at(t, wrap_dim(a.dim.value_or(0), t.dim(), "repeat_interleave")) : 1;
    check_output_size(a.output_size, CheckedSize(size, "repeat_interleave").mul(a.repeats).value());
    if (t.dim() == 0) return t.reshape({1}).expand({a.repeats}).clone(MemoryFormat::Contiguous);
    const int64_t dim = wrap_dim(a.dim.value_or(0), t.dim(), "repeat_interleave");
    Dims wide = t.impl().sizes, sizes = t.impl().sizes;
    wide.insert(wide.begin() + dim + 1, a.repeats);
    sizes[dim] *= a.repeats;
    return t.unsqueeze(dim + 1).expand(wide).clone(MemoryFormat::Contiguous).view(sizes);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), 2});
    s.add({s->real({2, 3}), 3, 1});
    s.add({s->real({2}), 0});
    s.add({s->real({2, 3}), 2, 1, 6});
    s.fails({s->real({2}), -1}, "repeat_interleave: repeats can not be negative, got -1");
    s.fails({s->real({2}), int64_t{1} << 62},
            "repeat_interleave: size 2 * 4611686018427387904 does not fit in 64 bits");
    s.fails({s->real({2}), 2, std::nullopt, 5}, "repeat_interleave: Invalid output_size, expected 4 but got 5");
  }
};
ARGAND_OP(RepeatInterleave)

struct RepeatInterleaveTensor : Composite<RepeatInterleaveTensorArgs> {
  static constexpr auto schema =
      "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None) -> Tensor";
  static constexpr auto doc =
      "Element i along dim (of the flat tensor if none) repeats[i] times in a row; one number serves all.";
  static Tensor compose(const Args& a) {
    const Tensor t = a.dim ? a.self : a.self.reshape({-1});
    check_vector("repeat_interleave", a.repeats);
    const int64_t dim = wrap_dim(a.dim.value_or(0), t.dim(), "repeat_interleave"), size = size_at(t, dim);
    ARGAND_CHECK(ShapeError, a.repeats.numel() == 1 || a.repeats.numel() == size,
                 "repeat_interleave: repeats must have the same size as input along dim, but got repeats.size(0) = ",
                 a.repeats.numel(), " and input.size(", dim, ") = ", size);
    const Tensor counts = exec::dense_clone(a.repeats, kLong).cpu();  // the shape depends on them
    const int64_t* p = raw<int64_t>(counts);
    const auto count = [&](int64_t i) { return p[counts.numel() == 1 ? 0 : i]; };
    CheckedSize total(0, "repeat_interleave");
    for (int64_t i = 0; i < size; ++i) {
      ARGAND_CHECK(ValueError, count(i) >= 0, "repeat_interleave: repeats can not be negative, got ", count(i));
      total.add(count(i));
    }
    check_output_size(a.output_size, total.value());
    const Tensor index = exec::new_tensor({{total.value()}, kLong}, kCPU);  // throws for what is beyond all memory
    int64_t* next = total.value() > 0 ? raw<int64_t>(index) : nullptr;
    for (int64_t i = 0; i < size; ++i) next = std::fill_n(next, count(i), i);
    if (t.is_cpu()) return t.index_select(dim, index);
    return t.index_select(dim, numbers_on(t.device(), {raw<int64_t>(index), static_cast<size_t>(index.numel())}));
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->integer({2}, 0, 3), 0});
    s.add({s->real({4}), s->integer({1}, 2, 3)});
    s.fails({s->real({3}), s->integer({2}, 0, 3)},
            "repeat_interleave: repeats must have the same size as input along dim");
    s.add({s->real({4}), s->integer({1}, 2, 3), std::nullopt, 8});
    s.fails({s->real({3}), s->integer({3}, -2, -1)}, "repeat_interleave: repeats can not be negative, got -2");
    s.fails({s->real({2}), full({2}, int64_t{1} << 62, kLong)}, "does not fit in 64 bits");
    s.fails({s->real({2}), full({1}, int64_t{1} << 45, kLong)}, "562949953421312 bytes");
    s.fails({s->real({4}), s->integer({1}, 2, 3), std::nullopt, 7},
            "repeat_interleave: Invalid output_size, expected 8 but got 7");
  }
};
ARGAND_OP(RepeatInterleaveTensor)

}  // namespace argand::ops
