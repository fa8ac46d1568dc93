// Distinct elements or rows: _unique2, unique_dim, unique_consecutive.
#include <bit>
#include <limits>
#include <numeric>
#include <optional>

#include "argand/kernels/api/sort.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cpu/sort.h"
#include "argand/kernels/sort_key.h"
#include "argand/ops/define.h"
#include "argand/ops/index/bounds.h"
#include "argand/ops/sort/args.h"

namespace argand::ops {
namespace {

// Row numbers of a contiguous [n, m] tensor in lexicographic order, equal rows in the order they stand in.
std::vector<int64_t> rows_in_order(const Tensor& rows) {
  const int64_t n = rows.sizes()[0], m = rows.sizes()[1];
  std::vector<int64_t> order(static_cast<size_t>(n));
  if (m == 1) {
    cpu::sort_first({rows.impl().data(), rows.dtype(), 1, n, 1}, n, false, nullptr, order.data());
    return order;
  }
  std::iota(order.begin(), order.end(), 0);
  dispatch<kRealTypes>(rows.dtype(), "unique", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* p = raw<T>(rows);
    const auto before = [](T x, T y) { return sort_key(x) < sort_key(y); };
    std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
      return std::lexicographical_compare(p + x * m, p + (x + 1) * m, p + y * m, p + (y + 1) * m, before);
    });
  });
  return order;
}

// The rows of a GPU in order: keys that are equal where neighbours are, [n] or [n, m], and the numbers of the rows,
// int32 or int64.
struct RowsInOrder {
  Tensor keys, order;
};

// Many numbers of a small range, by their distance from the least: a radix sort takes as many passes as the distances
// have bytes, and eight for numbers of int64.  The range is read back, which takes as long as one or two passes.
std::optional<RowsInOrder> by_distance(const Tensor& numbers) {
  constexpr int64_t kMany = int64_t{1} << 19;
  const int64_t n = numbers.numel();
  if (numbers.dtype() != kLong || n < kMany || n >= int64_t{1} << 31 ||
      !blocks::sort_numbers.has(numbers.device().type()))
    return {};
  const auto [least, most] = aminmax(numbers);
  const Tensor both = stack({least, most}).to(kCPU);
  const auto* ends = raw<int64_t>(both);
  const uint64_t range = static_cast<uint64_t>(ends[1]) - static_cast<uint64_t>(ends[0]);
  if (range > std::numeric_limits<uint32_t>::max()) return {};
  const Tensor distances = numbers.sub(least);
  const auto result = [&] { return exec::new_tensor({{n}, kInt}, numbers.device()); };
  RowsInOrder out{result(), result()};
  const auto data = [](const Tensor& t) { return static_cast<uint32_t*>(t.impl().data()); };
  blocks::sort_numbers.on(numbers.device())(static_cast<const int64_t*>(distances.impl().data()), n,
                                            std::max(1, static_cast<int>(std::bit_width(range))), data(out.keys),
                                            data(out.order));
  return out;
}

// By a stable sort of each column from the last to the first.
RowsInOrder rows_in_order_on_device(const Tensor& rows) {
  if (rows.sizes()[1] == 1) {
    const Tensor only = rows.select(1, 0);
    if (const auto sorted = by_distance(only)) return *sorted;
    const auto [keys, order] = sort(only, 0);
    return {keys, order};
  }
  Tensor order;
  for (int64_t column = rows.sizes()[1]; column-- > 0;) {
    const Tensor keys = rows.select(1, column);
    const Tensor next = argsort(order.defined() ? keys.index_select(0, order) : keys);
    order = order.defined() ? order.index_select(0, next) : next;
  }
  return {order.defined() ? rows.index_select(0, order) : rows, order};
}

Tensor to_tensor(const std::vector<int64_t>& values) {
  const Tensor t = exec::new_tensor({{static_cast<int64_t>(values.size())}, kLong}, kCPU);
  std::copy(values.begin(), values.end(), raw<int64_t>(t));
  return t;
}

}  // namespace

struct UniqueRows : Kernel<UniqueRowsArgs> {
  static constexpr auto schema =
      "_unique_rows(Tensor self, bool sort, bool return_inverse, bool return_counts) -> (Tensor positions, Tensor "
      "inverse, Tensor counts)";
  static constexpr auto doc =
      "For the rows of self [n, m], sorted or with neighbours compared as they stand: where each group of equal rows "
      "begins, to which group each row belongs, and how many there are of each. NaN equals nothing. What is not asked "
      "for is empty.";
  static constexpr DtypeSet dtypes = kRealTypes;
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static TensorMetas infer(const Args& a) {
    check_has_data("unique", a.self);
    ARGAND_CHECK(ShapeError, a.self.dim() == 2, "_unique_rows: expected self of shape [n, m], got ", a.self.sizes());
    return {{{0}, kLong}, {{a.return_inverse ? a.self.sizes()[0] : 0}, kLong}, {{0}, kLong}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const Tensor rows = exec::dense(a.self);
    if (!rows.is_cpu()) return run_on_device(a, rows, outs);
    const int64_t n = rows.sizes()[0], m = rows.sizes()[1];
    std::vector<int64_t> order, positions, counts;
    if (a.sort) order = rows_in_order(rows);
    int64_t* inverse = a.return_inverse ? raw<int64_t>(outs[1]) : nullptr;
    dispatch<kRealTypes>(rows.dtype(), "unique", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* p = raw<T>(rows);
      const auto same = [](T x, T y) { return static_cast<op_math_t<T>>(x) == static_cast<op_math_t<T>>(y); };
      for (int64_t i = 0, previous = 0; i < n; ++i) {
        const int64_t row = a.sort ? order[static_cast<size_t>(i)] : i;
        const T *x = p + row * m, *y = p + previous * m;
        if (i == 0 || !std::equal(x, x + m, y, same)) {
          positions.push_back(row);
          counts.push_back(0);
        }
        ++counts.back();
        if (inverse) inverse[row] = static_cast<int64_t>(positions.size()) - 1;
        previous = row;
      }
    });
    if (!a.return_counts) counts.clear();
    for (const auto& [out, values] : {std::pair(outs[0], &positions), std::pair(outs[2], &counts)}) {
      exec::resize_output(out, {static_cast<int64_t>(values->size())});
      exec::copy_elements(out, to_tensor(*values));
    }
  }
  static void run_on_device(const Args& a, const Tensor& rows, std::span<Tensor> outs) {
    const int64_t n = rows.sizes()[0];
    if (n == 0) return;
    const auto [keys, order] = a.sort ? rows_in_order_on_device(rows) : RowsInOrder{rows, {}};
    const Tensor begins = ones({n}, TensorOptions(kBool).device(rows.device()));
    const Tensor differ = keys.slice(0, 1).ne(keys.slice(0, 0, n - 1));
    begins.slice(0, 1).copy_(differ.dim() == 1 ? differ : differ.any(1));
    const Tensor places = begins.nonzero().select(1, 0);
    const auto give = [](const Tensor& out, const Tensor& values) {
      exec::resize_output(out, values.sizes());
      exec::copy_elements(out, values);
    };
    give(outs[0], order.defined() ? order.index_select(0, places) : places);
    if (a.return_inverse) {
      const Tensor group = begins.cumsum(0).sub(1);
      if (order.defined())
        outs[1].scatter_(0, order.to(kLong), group);
      else
        exec::copy_elements(outs[1], group);
    }
    if (a.return_counts) give(outs[2], cat({places.slice(0, 1), full({1}, n, places.options())}).sub(places));
  }
  static void samples(S& s) {
    s.add({s->integer({9, 1}, 0, 4), true, true, true});
    s.add({s->integer({9, 2}, 0, 2), true, true, true});
    s.add({s->integer({9, 2}, 0, 2), false, true, false});
    s.fails({s->real({3}), true, true, true}, "_unique_rows: expected self of shape [n, m], got [3]");
  }
};
ARGAND_OP(UniqueRows)

namespace {

using Uniques = std::tuple<Tensor, Tensor, Tensor>;

// The unique elements of the whole tensor; `inverse` has the shape of self.
Uniques of_elements(const Tensor& self, bool sort, bool return_inverse, bool return_counts) {
  const Tensor flat = self.reshape({-1});
  const auto [positions, inverse, counts] = _unique_rows(flat.unsqueeze(1), sort, return_inverse, return_counts);
  return {flat.index_select(0, positions), return_inverse ? inverse.view(self.sizes()) : inverse, counts};
}

// The unique slices along a dimension; always returns all three results, as PyTorch does.
Uniques of_slices(const char* op, const Tensor& self, int64_t dim, bool sort) {
  const int64_t d = wrap_dim(dim, self.dim(), op), n = size_at(self, d);
  // Without elements, either all slices would be equal, which PyTorch refuses, or there are no slices.
  ARGAND_CHECK(ValueError, self.numel() > 0 || n == 0, op,
               ": there are 0 sized dimensions, and they aren't selected, so unique cannot be applied; got sizes ",
               self.sizes());
  const int64_t width = n == 0 ? 1 : self.numel() / n;
  const Tensor slices = self.dim() == 0 ? self.reshape({1, 1}) : self.movedim(d, 0).reshape({n, width});
  const auto [positions, inverse, counts] = _unique_rows(slices, sort, true, true);
  return {self.index_select(d, positions), inverse, counts};
}

}  // namespace

struct Unique2 : Composite<Unique2Args> {
  static constexpr auto schema =
      "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, "
      "Tensor, Tensor)";
  static constexpr const char* overloads[] = {
      "unique(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, "
      "Tensor)"};
  static constexpr auto doc =
      "The different elements of self in order (whether or not sorted asks for it), for each element of self which "
      "one it is, and how many there are of each; what is not asked for is empty. NaN equals nothing.";
  static constexpr int variants = kFunction;
  static Uniques compose(const Args& a) { return of_elements(a.self, true, a.return_inverse, a.return_counts); }
  static void samples(S& s) {
    s.add({s->integer({3, 5}, 0, 4), true, true, true});
    s.add({s->integer({3, 5}, 0, 4)});
    s.add({s->apart({7}), true, true, false});
    s.add({s->apart({}), true, true, true});
    s.add({s->apart({0, 3}), true, true, true});
  }
};
ARGAND_OP(Unique2)

struct UniqueConsecutive : Composite<UniqueConsecutiveArgs> {
  static constexpr auto schema =
      "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor, "
      "Tensor, Tensor)";
  static constexpr auto doc =
      "self (flat, or its slices along dim) with one of each run of equal neighbours, for each element its run, and "
      "the lengths of the runs; without dim, what is not asked for is empty.";
  static Uniques compose(const Args& a) {
    if (!a.dim) return of_elements(a.self, false, a.return_inverse, a.return_counts);
    return of_slices("unique_consecutive", a.self, *a.dim, false);
  }
  static void samples(S& s) {
    s.add({s->integer({3, 5}, 0, 2), true, true});
    s.add({s->integer({9, 2}, 0, 2), true, true, 0});
    s.add({s->integer({12}, 0, 3)});
    s.fails({s->real({3, 4}), false, false, 2}, "unique_consecutive: Dimension out of range");
  }
};
ARGAND_OP(UniqueConsecutive)

struct UniqueDimConsecutive : Composite<UniqueDimConsecutiveArgs> {
  static constexpr auto schema =
      "unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool return_counts=False) -> (Tensor, "
      "Tensor, Tensor)";
  static constexpr auto doc = "unique_consecutive along dim.";
  static constexpr int variants = kFunction;
  static Uniques compose(const Args& a) { return of_slices("unique_dim_consecutive", a.self, a.dim, false); }
  static void samples(S& s) { s.add({s->integer({9, 2}, 0, 2), 0, true, true}); }
};
ARGAND_OP(UniqueDimConsecutive)

struct UniqueDim : Composite<UniqueDimArgs> {
  static constexpr auto schema =
      "unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> "
      "(Tensor, Tensor, Tensor)";
  static constexpr auto doc =
      "The different slices of self along dim in lexicographic order, for each slice which one it is, and how many "
      "there are of each, asked for or not.";
  static constexpr int variants = kFunction;
  static Uniques compose(const Args& a) { return of_slices("unique_dim", a.self, a.dim, true); }
  static void samples(S& s) {
    s.add({s->integer({9, 2}, 0, 2), 0, true, true, true});
    s.add({s->integer({2, 3, 9}, 0, 2), -1, true, true, true});
    s.add({s->integer({2, 9}, 0, 2), 1});
    s.fails({s->real({3, 4}), 2}, "unique_dim: Dimension out of range");
    s.fails({s->real({0, 4}), 1}, "unique_dim: there are 0 sized dimensions, and they aren't selected");
  }
};
ARGAND_OP(UniqueDim)

}  // namespace argand::ops
