// Elements chosen by a mask: nonzero, nonzero_static, masked_select, masked_scatter, one_hot.
#include "argand/kernels/blocks.h"
#include "argand/kernels/cpu/runs.h"
#include "argand/ops/define.h"
#include "argand/ops/index/args.h"
#include "argand/ops/index/bounds.h"

namespace argand::ops {
namespace {

Tensor expanded(const Tensor& t, const Dims& sizes) {
  return exec::dense(exec::alias(t, sizes, expanded_strides(t.sizes(), t.strides(), sizes), t.storage_offset()));
}

void check_mask(const char* op, const Tensor& mask) {
  ARGAND_CHECK(DtypeError, mask.dtype() == kBool, op, ": expected BoolTensor for mask, got ", mask.dtype());
}

int64_t count_true(const Tensor& mask) {
  const uint8_t* p = raw<uint8_t>(mask);
  int64_t n = 0;
  for (int64_t i = 0; i < mask.numel(); ++i) n += p[i] != 0;
  return n;
}

// On a GPU: the positions where the contiguous mask is true.
Tensor positions_of(const Tensor& mask) {
  Tensor positions;
  blocks::true_positions.on(mask.device())(mask.impl().data(), mask.numel(), [&](int64_t count) {
    positions = exec::new_tensor({{count}, kLong}, mask.device());
    return static_cast<int64_t*>(positions.impl().data());
  });
  return positions;
}
}  // namespace

struct Nonzero : Kernel<NonzeroArgs> {
  static constexpr auto schema = "nonzero(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"argwhere(Tensor self) -> Tensor"};
  static constexpr auto doc =
      "The positions of the elements that are not zero, one row of self.dim() numbers (int64) each, in row-major "
      "order.";
  static constexpr bool differentiable = false;
  // Only the kernel finds the number of rows, so it gives the result its size.
  static TensorMeta infer(const Args& a) {
    check_has_data("nonzero", a.self);
    return {{0, a.self.dim()}, kLong};
  }
  static void run(const Args& a, Tensor& out) {
    const Tensor mask = exec::dense_clone(a.self, kBool);
    if (!out.is_cpu()) return run_on_device(mask, out);
    const uint8_t* p = raw<uint8_t>(mask);
    exec::resize_output(out, {count_true(mask), a.self.dim()});
    if (out.numel() == 0) return;
    int64_t* row = raw<int64_t>(out);
    const auto sizes = a.self.sizes();
    Dims at(sizes.size(), 0);
    for (int64_t i = 0; i < mask.numel(); ++i) {
      if (p[i]) row = std::copy(at.begin(), at.end(), row);
      for (size_t d = sizes.size(); d-- > 0;) {
        if (++at[d] < sizes[d]) break;
        at[d] = 0;
      }
    }
  }
  static void run_on_device(const Tensor& mask, const Tensor& out) {
    Tensor rest = positions_of(mask);
    exec::resize_output(out, {rest.numel(), mask.dim()});
    if (out.numel() == 0) return;
    for (int64_t d = mask.dim() - 1; d > 0; --d) {
      const int64_t size = mask.sizes()[d];
      exec::copy_elements(out.select(1, d), rest.remainder(size));
      rest = rest.div(size, "floor");
    }
    exec::copy_elements(out.select(1, 0), rest);
  }
  static void samples(S& s) {
    s.add({s->integer({3, 4}, 0, 2)});
    s.add({s->boolean({2, 3, 2})});
    s.add({s->integer({}, 1, 2)});
    s.add({s->boolean({0, 3})});
  }
};
ARGAND_OP(Nonzero)

struct NonzeroStatic : Composite<NonzeroStaticArgs> {
  static constexpr auto schema = "nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The first `size` rows of nonzero; where there are fewer, rows of fill_value follow.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ValueError, a.size >= 0, "nonzero_static: 'size' must be an non-negative integer, got ", a.size);
    const Tensor found = a.self.nonzero().slice(0, 0, a.size);
    const Tensor rest = full({a.size - found.sizes()[0], a.self.dim()}, a.fill_value, found.options());
    return cat({found, rest});
  }
  static void samples(S& s) {
    s.add({s->integer({3, 4}, 0, 2), 3});
    s.add({s->integer({3, 4}, 0, 2), 15, -7});
    s.add({s->boolean({}), 2});
    s.fails({s->boolean({3}), -1}, "nonzero_static: 'size' must be an non-negative integer, got -1");
  }
};
ARGAND_OP(NonzeroStatic)

struct NonzeroNumpy : Composite<NonzeroNumpyArgs> {
  static constexpr auto schema = "nonzero_numpy(Tensor self) -> Tensor[]";
  static constexpr auto doc =
      "The columns of nonzero: one index tensor for each dimension (a 0-dim tensor counts as having one).";
  static std::vector<Tensor> compose(const Args& a) { return atleast_1d(a.self).nonzero().unbind(1); }
  static void samples(S& s) {
    s.add({s->integer({3, 4}, 0, 2)});
    s.add({s->integer({}, 1, 2)});
  }
};
ARGAND_OP(NonzeroNumpy)

struct WhereNonzero : Composite<WhereNonzeroArgs> {
  static constexpr auto schema = "where.nonzero(Tensor condition) -> Tensor[]";
  static constexpr auto doc = "nonzero_numpy of the condition.";
  static constexpr int variants = kFunction;
  static std::vector<Tensor> compose(const Args& a) { return a.condition.nonzero_numpy(); }
  static void samples(S& s) { s.add({s->boolean({3, 4})}); }
};
ARGAND_OP(WhereNonzero)

struct MaskedSelect : Kernel<MaskedSelectArgs> {
  static constexpr auto schema = "masked_select(Tensor self, Tensor mask) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "The elements of self where mask (bool) holds, as a vector in row-major order; both broadcast.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static TensorMeta infer(const Args& a) {
    check_mask("masked_select", a.mask);
    check_has_data("masked_select", a.mask);
    broadcast_shapes(a.self.sizes(), a.mask.sizes(), "masked_select");
    return {{0}, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const Dims sizes = broadcast_shapes(a.self.sizes(), a.mask.sizes(), "masked_select");
    const Tensor from = expanded(a.self, sizes), mask = expanded(a.mask, sizes);
    if (!out.is_cpu()) {
      const Tensor at = positions_of(mask);
      exec::resize_output(out, at.sizes());
      return blocks::take_rows.on(out.device())(from.impl().data(), {1, from.numel(), 1}, out.itemsize(),
                                                numbers_in(at), at.numel(), out.impl().data());
    }
    exec::resize_output(out, {count_true(mask)});
    const uint8_t* keep = raw<uint8_t>(mask);
    cpu::with_block_type(out.itemsize(), [&](auto block) {
      const auto* p = raw<decltype(block)>(from);
      auto* q = raw<decltype(block)>(out);
      for (int64_t i = 0; i < mask.numel(); ++i)
        if (keep[i]) *q++ = p[i];
    });
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return zeros(broadcast_shapes(c.sizes(kSelf), c.mask.sizes(), "masked_select"), g.options())
        .masked_scatter(c.mask, g);
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), s->boolean({3, 4})});
    s.add({s->real({3, 1}), s->boolean({4})});
    s.add({s->real({}), s->boolean({})});
    s.fails({s->real({3}), s->boolean({4})}, "masked_select: shapes [3] and [4] do not broadcast");
    s.fails({s->real({3}), s->integer({3}, 0, 2)}, "masked_select: expected BoolTensor for mask, got int64");
  }
};
ARGAND_OP(MaskedSelect)

struct MaskedScatter : Kernel<MaskedScatterArgs> {
  static constexpr auto schema = "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor";
  static constexpr auto doc =
      "self with the places where mask (bool, broadcast) holds filled by the elements of source in row-major order. "
      "ValueError if source has too few.";
  static constexpr int variants = kFunction | kMethod | kInplace;
  static constexpr bool starts_from_self = true;
  static TensorMeta infer(const Args& a) {
    check_mask("masked_scatter", a.mask);
    ARGAND_CHECK(DtypeError, a.self.dtype() == a.source.dtype(),
                 "masked_scatter: expected self and source to have same dtypes but got ", a.self.dtype(), " and ",
                 a.source.dtype());
    return {broadcast_shapes(a.self.sizes(), a.mask.sizes(), "masked_scatter"), a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const Tensor mask = expanded(a.mask, out.impl().sizes), source = exec::dense(a.source);
    const Tensor at = out.is_cpu() ? Tensor() : positions_of(mask);
    const int64_t n = at.defined() ? at.numel() : count_true(mask);
    ARGAND_CHECK(ValueError, n <= source.numel(), "masked_scatter: expected the number of elements of source (",
                 source.numel(), ") to be >= number of ones in mask (", n, ")");
    if (at.defined())
      return blocks::put_rows.on(out.device())(out.impl().data(), {1, out.numel(), 1}, out.itemsize(), numbers_in(at),
                                               n, source.impl().data());
    const uint8_t* put = raw<uint8_t>(mask);
    cpu::with_block_type(out.itemsize(), [&](auto block) {
      const auto* p = raw<decltype(block)>(source);
      auto* q = raw<decltype(block)>(out);
      for (int64_t i = 0; i < mask.numel(); ++i)
        if (put[i]) q[i] = *p++;
    });
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.masked_scatter(c.mask, zeros_like(g)); }
  static Tensor grad_source(const Ctx& c, const Tensor& g) {
    const Tensor used = g.masked_select(c.mask);
    const int64_t rest = numel_of(c.sizes(kSource)) - used.numel();
    return cat({used, zeros({rest}, g.options())}).view(c.sizes(kSource));
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), s->boolean({3, 4}), s->real({3, 5})});
    s.add({s->real({3, 4}), s->boolean({4}), s->real({12})});
    s.fails({s->real({3}), s->boolean({3}), s->integer({3}, 0, 2)},
            "masked_scatter: expected self and source to have same dtypes");
    s.fails({s->real({3}), s->integer({3}, 0, 2), s->real({3})},
            "masked_scatter: expected BoolTensor for mask, got int64");
  }
};
ARGAND_OP(MaskedScatter)

struct OneHot : Composite<OneHotArgs> {
  static constexpr auto schema = "one_hot(Tensor self, int num_classes=-1) -> Tensor";
  static constexpr auto doc =
      "int64 of shape [..., num_classes]: 1 at the class that self names, else 0; -1 means the largest class plus one.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(DtypeError, a.self.dtype() == kLong,
                 "one_hot: is only applicable to index tensor of type LongTensor, got ", a.self.dtype());
    ARGAND_CHECK(ValueError, a.num_classes >= -1,
                 "one_hot: expected num_classes of at least -1, which stands for the classes there are, got ",
                 a.num_classes);
    ARGAND_CHECK(ValueError, a.self.numel() > 0 || a.num_classes > 0,
                 "one_hot: Can not infer total number of classes from empty tensor.");
    const Tensor t = exec::dense(a.self.is_cpu() ? a.self : a.self.to(Device(kCPU)));
    const int64_t* p = raw<int64_t>(t);
    int64_t most = -1;
    for (int64_t i = 0; i < t.numel(); ++i) {
      ARGAND_CHECK(IndexError, p[i] >= 0, "one_hot: Class values must be non-negative, got ", p[i]);
      ARGAND_CHECK(IndexError, a.num_classes <= 0 || p[i] < a.num_classes,
                   "one_hot: Class values must be smaller than num_classes (", a.num_classes, "), got ", p[i]);
      most = std::max(most, p[i]);
    }
    Dims sizes = a.self.impl().sizes;
    sizes.push_back(a.num_classes > 0 ? a.num_classes : most + 1);
    return zeros(sizes, a.self.options()).scatter_(-1, a.self.unsqueeze(-1), 1);
  }
  static void samples(S& s) {
    s.add({s->integer({2, 3}, 0, 4), 4});
    s.add({s->integer({5}, 0, 4)});
    s.add({s->integer({}, 0, 4), 4});
    s.fails({s->integer({2}, -2, -1), 3}, "one_hot: Class values must be non-negative, got -2");
    s.fails({s->integer({2}, 3, 4), 3}, "one_hot: Class values must be smaller than num_classes (3), got 3");
    s.fails({s->integer({2}, 0, 2), -2}, "one_hot: expected num_classes of at least -1");
    s.fails({s->real({2})}, "one_hot: is only applicable to index tensor of type LongTensor, got float64");
  }
};
ARGAND_OP(OneHot)

}  // namespace argand::ops
