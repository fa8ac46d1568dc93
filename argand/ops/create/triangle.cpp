// Triangles of matrices: tril, triu and their indices.
#include <algorithm>
#include <numeric>

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

// The positions of a triangle of a row x column matrix, row after row: those with column - row <= diagonal, or >=
// diagonal.
struct Triangle {
  const char* op;
  bool lower;
  int64_t rows, columns, diagonal;

  Triangle(const char* op_name, bool is_lower, int64_t row, int64_t col, int64_t offset)
      : op(op_name), lower(is_lower), rows(row), columns(col) {
    ARGAND_CHECK(ValueError, row >= 0 && col >= 0, op, ": row and col must be non-negative, got ", row, " and ", col);
    diagonal = std::clamp(offset, -row, col);  // beyond these limits, all or nothing is inside
  }

  // The columns of a row: a run at its begin, or at its end.
  int64_t first_column(int64_t row) const { return lower ? 0 : std::max<int64_t>(row + diagonal, 0); }
  int64_t end_column(int64_t row) const { return lower && row < columns - diagonal - 1 ? row + diagonal + 1 : columns; }

  // Rows that are not empty; none if columns is 0.
  int64_t first_row() const { return lower ? std::min(rows, std::max<int64_t>(-diagonal, 0)) : 0; }
  int64_t end_row() const { return lower || rows <= columns - diagonal ? rows : columns - diagonal; }

  // Takes constant time; ValueError if a tensor cannot have so many elements.
  int64_t count() const {
    if (columns == 0) return 0;
    // Seen from its last corner, an upper triangle is a lower one.
    const Triangle t = lower ? *this : Triangle(op, true, rows, columns, columns - rows - diagonal);
    const int64_t n = t.rows - t.first_row();
    if (n == 0) return 0;
    // Each row has one element more than the row before, until rows are full.
    const int64_t least = t.end_column(t.first_row()), growing = std::min(n, columns - least);
    const int64_t half = growing % 2 == 0 ? growing / 2 : (growing - 1) / 2;
    int64_t first = 0, added = 0, full = 0, sum = 0, bytes = 0;
    const bool too_many = __builtin_mul_overflow(growing, least, &first) ||
                          __builtin_mul_overflow(half, growing % 2 == 0 ? growing - 1 : growing, &added) ||
                          __builtin_mul_overflow(n - growing, columns, &full) ||
                          __builtin_add_overflow(first, added, &sum) || __builtin_add_overflow(sum, full, &sum) ||
                          __builtin_mul_overflow(sum, 2 * int64_t{sizeof(int64_t)}, &bytes);
    ARGAND_CHECK(ValueError, !too_many, op, ": the triangle of a ", rows, " x ", columns,
                 " matrix has more positions than fit a tensor");
    return sum;
  }
};

// Rows and columns, as [2, n].
Tensor as_indices(const Triangle& triangle, const TensorOptions& options) {
  const int64_t n = triangle.count();
  const TensorOptions wanted = options.dtype(options.dtype_opt().value_or(kLong)).requires_grad(std::nullopt);
  if (wanted.device().is_meta()) return empty({2, n}, wanted);
  const Tensor t = exec::new_tensor({{2, n}, kLong}, kCPU);
  if (n == 0) return t.to(wanted);
  int64_t *r = raw<int64_t>(t), *c = r + n;
  for (int64_t row = triangle.first_row(); row < triangle.end_row(); ++row) {
    const int64_t first = triangle.first_column(row), length = triangle.end_column(row) - first;
    r = std::fill_n(r, length, row);
    std::iota(c, c + length, first);
    c += length;
  }
  return t.to(wanted);
}

}  // namespace

struct Tril : Kernel<TrilArgs> {
  static constexpr auto schema = "tril(Tensor self, int diagonal=0) -> Tensor";
  static constexpr bool out_is_exact = true;
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
  static constexpr bool out_is_exact = true;
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
  static Tensor compose(const Args& a) { return as_indices({"tril_indices", true, a.row, a.col, a.offset}, a.options); }
  static void samples(S& s) {
    s.add({3, 4});
    s.add({3, 2, -1});
    s.add({5, 3, 1});
    s.add({2, 2, -5});
    s.add({4, int64_t{1} << 40});
    s.add({int64_t{1} << 40, 3, 2 - (int64_t{1} << 40)});
    s.fails({int64_t{1} << 40, int64_t{1} << 40},
            "tril_indices: the triangle of a 1099511627776 x 1099511627776 matrix");
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
    return as_indices({"triu_indices", false, a.row, a.col, a.offset}, a.options);
  }
  static void samples(S& s) {
    s.add({3, 4});
    s.add({3, 2, 1});
    s.add({3, 5, -1});
    s.add({2, 2, 5});
    s.add({int64_t{1} << 40, 3});
    s.add({3, int64_t{1} << 40, (int64_t{1} << 40) - 2});
    s.fails({int64_t{1} << 40, int64_t{1} << 40},
            "triu_indices: the triangle of a 1099511627776 x 1099511627776 matrix");
    s.fails({-1, 2}, "triu_indices: row and col must be non-negative, got -1 and 2");
  }
};
ARGAND_OP(TriuIndices)

}  // namespace argand::ops
