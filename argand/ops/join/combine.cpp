// Tensors made of combinations: block_diag, cartesian_prod, combinations, and Vandermonde matrices.
#include <algorithm>
#include <numeric>

#include "argand/base/checked.h"
#include "argand/ops/define.h"
#include "argand/ops/join/args.h"
#include "argand/ops/node_name.h"
#include "argand/ops/numbers_on.h"

namespace argand::ops {

struct BlockDiag : Composite<BlockDiagArgs> {
  static constexpr auto schema = "block_diag(Tensor[] tensors) -> Tensor";
  static constexpr auto autocast = Autocast::kAsGiven;
  static constexpr auto doc = "The matrix with the tensors, of at most two dimensions, as blocks on its diagonal.";
  static constexpr int variants = kFunction;
  static constexpr bool python_one_by_one = true;
  static Tensor compose(const Args& a) {
    if (a.tensors.empty()) return empty({1, 0});
    std::vector<Tensor> blocks;
    int64_t columns = 0, before = 0;
    for (size_t i = 0; i < a.tensors.size(); ++i) {
      ARGAND_CHECK(ShapeError, a.tensors[i].dim() <= 2,
                   "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input ", i, " has ",
                   a.tensors[i].dim(), " dimensions");
      blocks.push_back(atleast_2d(a.tensors[i]));
      columns += blocks.back().sizes()[1];
    }
    std::vector<Tensor> rows;
    for (const Tensor& b : blocks) {
      const int64_t after = columns - before - b.sizes()[1];
      const auto zeros_of = [&](int64_t width) { return zeros({b.sizes()[0], width}, b.options()); };
      rows.push_back(cat({zeros_of(before), b, zeros_of(after)}, 1));
      before += b.sizes()[1];
    }
    return cat(rows, 0);
  }
  static void samples(S& s) {
    s.add({{s->real({2, 3}), s->real({2}), s->real({})}});
    s.add({{s->real({2, 3})}});
    s.add({{s->real({2, 2}), s->real({0})}});
    s.add({{}});
    s.fails({{s->real({1, 1, 1})}},
            "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input 0 has 3 dimensions");
  }
};
ARGAND_OP(BlockDiag)
ARGAND_NODE(BlockDiag)

struct CartesianProd : Composite<CartesianProdArgs> {
  static constexpr auto schema = "cartesian_prod(Tensor[] tensors) -> Tensor";
  static constexpr auto doc = "All combinations of an element of each vector, one a row; of one vector itself.";
  static constexpr int variants = kFunction;
  static constexpr bool python_one_by_one = true;
  static Tensor compose(const Args& a) {
    for (const Tensor& t : a.tensors)
      ARGAND_CHECK(ShapeError, t.defined() && t.dim() == 1, "cartesian_prod: Expect a 1D vector, but got ",
                   t.defined() ? str("shape ", t.sizes()) : "an undefined tensor");
    if (a.tensors.size() == 1) return a.tensors[0];
    std::vector<Tensor> columns;
    for (const Tensor& grid : meshgrid(a.tensors, "ij")) columns.push_back(grid.reshape({-1}));
    return stack(columns, 1);
  }
  static void samples(S& s) {
    s.add({{s->real({2}), s->real({3})}});
    s.add({{s->real({2})}});
    s.fails({{s->real({2, 1})}}, "cartesian_prod: Expect a 1D vector, but got shape [2, 1]");
  }
};
ARGAND_OP(CartesianProd)

struct Combinations : Composite<CombinationsArgs> {
  static constexpr auto schema = "combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor";
  static constexpr auto doc = "All choices of r elements of a vector, one a row, in the order of their positions.";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() == 1, "combinations: Expect a 1D vector, but got shape ", a.self.sizes());
    ARGAND_CHECK(ValueError, a.r >= 0, "combinations: Expect a non-negative number, but got ", a.r);
    if (a.r == 0) return empty({0}, a.self.options());
    exec::new_tensor({{count_of(a.self.numel(), a.r, a.with_replacement), a.r}, kLong}, kCPU);  // throws if too large
    const Tensor at = numbers_on(a.self.device(), all_places(a.self.numel(), a.r, a.with_replacement));
    return a.self.index_select(0, at).reshape({at.numel() / a.r, a.r});
  }
  // n over r, or n + r - 1 over r.  ValueError for what does not fit 64 bits.
  static int64_t count_of(int64_t n, int64_t r, bool again) {
    const int64_t from = again ? CheckedSize(n, "combinations").add(r - 1).value() : n;
    if (n == 0 || r > from) return 0;
    CheckedSize count(1, "combinations");
    for (int64_t i = 0; i < std::min(r, from - r); ++i) {  // exact: (from over i) * (from - i) / (i + 1)
      const int64_t shared = std::gcd(count.value(), i + 1);
      count = CheckedSize(count.value() / shared, "combinations").mul((from - i) / ((i + 1) / shared));
    }
    return count.value();
  }
  // Row after row, each the next in the order of words.
  static std::vector<int64_t> all_places(int64_t n, int64_t r, bool again) {
    std::vector<int64_t> out;
    if (n == 0 || (!again && r > n)) return out;
    std::vector<int64_t> row(static_cast<size_t>(r));
    if (!again)
      for (int64_t i = 0; i < r; ++i) row[static_cast<size_t>(i)] = i;
    for (;;) {
      out.insert(out.end(), row.begin(), row.end());
      int64_t i = r - 1;  // the last place that can go on
      while (i >= 0 && row[static_cast<size_t>(i)] == (again ? n - 1 : n - r + i)) --i;
      if (i < 0) return out;
      const int64_t first = row[static_cast<size_t>(i)] + 1;
      for (int64_t k = i; k < r; ++k) row[static_cast<size_t>(k)] = again ? first : first + k - i;
    }
  }
  static void samples(S& s) {
    s.add({s->real({4})});
    s.add({s->real({5}), 3});
    s.add({s->real({3}), 2, true});
    s.add({s->real({2}), 3});
    s.fails({s->real({2, 2})}, "combinations: Expect a 1D vector, but got shape [2, 2]");
    s.fails({s->real({2000}), 5}, " bytes");
    s.fails({s->real({2000}), 1000}, "does not fit in 64 bits");
    s.fails({s->real({2}), -1}, "combinations: Expect a non-negative number, but got -1");
  }
};
ARGAND_OP(Combinations)

namespace {

// x^0 ... x^(n-1) in the last dimension, as products; in the dtype of cumprod: integers in int64.
Tensor powers(const Tensor& x, int64_t n) {
  Dims sizes = x.impl().sizes;
  sizes.push_back(n);
  const ScalarType dtype = is_integral(x.dtype(), true) ? kLong : x.dtype();
  if (n == 0) return empty(sizes, x.options().dtype(dtype));
  sizes.back() = 1;
  const Tensor first = ones(sizes, x.options().dtype(dtype));
  if (n == 1) return first;
  sizes.back() = n - 1;
  return cat({first, x.unsqueeze(-1).expand(sizes).cumprod(-1)}, -1);
}

}  // namespace

struct Vander : Composite<VanderArgs> {
  static constexpr auto schema = "vander(Tensor x, int? N=None, bool increasing=False) -> Tensor";
  static constexpr auto doc = "The powers of a vector's elements as columns, the highest first unless increasing.";
  static constexpr auto autocast = Autocast::kAsGiven;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.x.dim() == 1, "vander: x must be a one-dimensional tensor, got ", a.x.sizes());
    const int64_t n = a.N.value_or(a.x.sizes()[0]);
    ARGAND_CHECK(ValueError, n >= 0, "vander: N must be non-negative, got ", n);
    const Tensor all = powers(a.x, n);
    return a.increasing ? all : all.flip(1);
  }
  static void samples(S& s) {
    s.add({s->real({3})});
    s.add({s->real({3}), 4, true});
    s.add({s->real({3}), 0});
    s.fails({s->real({2, 2})}, "vander: x must be a one-dimensional tensor, got [2, 2]");
    s.fails({s->real({2}), -1}, "vander: N must be non-negative, got -1");
  }
};
ARGAND_OP(Vander)

struct LinalgVander : Composite<LinalgVanderArgs> {
  static constexpr auto schema = "linalg_vander(Tensor x, *, int? N=None) -> Tensor";
  static constexpr auto doc = "The powers of vectors' elements, from 0 on, in a new last dimension.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kAllTypes & ~kBoolType & ~kHalfTypes;
  static Tensor compose(const Args& a) {
    const Tensor x = atleast_1d(a.x);
    const int64_t n = a.N.value_or(x.sizes().back());
    ARGAND_CHECK(ValueError, n > 1, "linalg_vander: N must be greater than 1, got ", n);
    return powers(x, n);
  }
  static void samples(S& s) {
    s.add({s->real({3})});
    s.add({s->real({2, 3}), 4});
    s.add({s->real({}), 3});
    s.fails({s->real({2}), 1}, "linalg_vander: N must be greater than 1, got 1");
  }
};
ARGAND_OP(LinalgVander)

}  // namespace argand::ops
