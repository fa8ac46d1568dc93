// Triangles of matrices: tril, triu and their indices.
#include "argand/kernels/blocks.h"
#include "argand/ops/create/args.h"
#include "argand/ops/create/meta.h"
#include "argand/ops/define.h"

namespace argand::ops {
namespace {

void check_matrix(const char* op, const Tensor& t) {
  ARGAND_CHECK(ShapeError, t.dim() >= 2, op, ": input tensor must have at least 2 dimensions, got sizes ", t.sizes());
}

// Works in place on a dense tensor.
void zero_outside(const Tensor& t, int64_t diagonal, bool lower) {
  if (t.numel() == 0) return;
  const int64_t rows = t.sizes()[t.dim() - 2], columns = t.sizes()[t.dim() - 1];
  blocks::zero_outside.on(t.device())(t.impl().data(), {t.numel() / (rows * columns), rows, columns}, t.itemsize(),
                                      diagonal, lower);
}

// Positions (row, column) of a triangle of a row x column matrix, as [2, n].
template <class Keep>
std::vector<int64_t> positions(int64_t rows, int64_t columns, Keep keep) {
  std::vector<int64_t> r, c;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      if (!keep(j - i)) continue;
      r.push_back(i);
      c.push_back(j);
    }
  }
  r.insert(r.end(), c.begin(), c.end());
  return r;
}

Tensor as_indices(const std::vector<int64_t>& values, const TensorOptions& options) {
  const Tensor t = exec::new_tensor({{2, static_cast<int64_t>(values.size()) / 2}, kLong}, kCPU);
  std::copy(values.begin(), values.end(), raw<int64_t>(t));
  return t.to(options.dtype(options.dtype_opt().value_or(kLong)).requires_grad(std::nullopt));
}

}  // namespace

struct Tril : Kernel<TrilArgs> {
  static constexpr auto schema = "tril(Tensor self, int diagonal=0) -> Tensor";
  static constexpr auto doc = "The lower triangle of matrices, zero elsewhere: column - row <= diagonal.";
  static constexpr int variants = kFunction | kMethod | kInplace | kOut;
  static constexpr bool starts_from_self = true;
  static TensorMeta infer(const Args& a) {
    check_matrix("tril", a.self);
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) { zero_outside(out, a.diagonal, true); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.tril(c.diagonal); }
  static void samples(S& s) {
    s.add({s->real({3, 4})});
    s.add({s->real({2, 4, 3}), 1});
    s.add({s->real({3, 3}), -5});
    s.add({s->real({0, 3})});
    s.fails({s->real({3})}, "tril: input tensor must have at least 2 dimensions");
  }
};
ARGAND_OP(Tril)

struct Triu : Kernel<TriuArgs> {
  static constexpr auto schema = "triu(Tensor self, int diagonal=0) -> Tensor";
  static constexpr auto doc = "The upper triangle of matrices, zero elsewhere: column - row >= diagonal.";
  static constexpr int variants = kFunction | kMethod | kInplace | kOut;
  static constexpr bool starts_from_self = true;
  static TensorMeta infer(const Args& a) {
    check_matrix("triu", a.self);
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) { zero_outside(out, a.diagonal, false); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.triu(c.diagonal); }
  static void samples(S& s) {
    s.add({s->real({3, 4})});
    s.add({s->real({2, 4, 3}), -1});
    s.add({s->real({3, 3}), 5});
    s.fails({s->real({3})}, "triu: input tensor must have at least 2 dimensions");
  }
};
ARGAND_OP(Triu)

struct TrilIndices : Composite<TrilIndicesArgs> {
  static constexpr auto schema =
      "tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? "
      "pin_memory=None) -> Tensor";
  static constexpr auto doc = "Rows and columns of the lower triangle of a row x col matrix, as [2, n] int64.";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ValueError, a.row >= 0 && a.col >= 0, "tril_indices: row and col must be non-negative, got ", a.row,
                 " and ", a.col);
    return as_indices(positions(a.row, a.col, [&](int64_t d) { return d <= a.offset; }), a.options);
  }
  static void samples(S& s) {
    s.add({3, 4});
    s.add({3, 2, -1});
    s.fails({-1, 2}, "tril_indices: row and col must be non-negative, got -1 and 2");
  }
};
ARGAND_OP(TrilIndices)

struct TriuIndices : Composite<TriuIndicesArgs> {
  static constexpr auto schema =
      "triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? "
      "pin_memory=None) -> Tensor";
  static constexpr auto doc = "Rows and columns of the upper triangle of a row x col matrix, as [2, n] int64.";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ValueError, a.row >= 0 && a.col >= 0, "triu_indices: row and col must be non-negative, got ", a.row,
                 " and ", a.col);
    return as_indices(positions(a.row, a.col, [&](int64_t d) { return d >= a.offset; }), a.options);
  }
  static void samples(S& s) {
    s.add({3, 4});
    s.add({3, 2, 1});
    s.fails({-1, 2}, "triu_indices: row and col must be non-negative, got -1 and 2");
  }
};
ARGAND_OP(TriuIndices)

}  // namespace argand::ops
