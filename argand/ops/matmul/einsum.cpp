// einsum: sums of products named by letters.
//
// Every operand is brought to one order of labels (missing ones as size 1), then operands are contracted from left to
// right: labels that neither a later operand nor the result needs are summed, as one batched matrix product per step.
#include <array>
#include <map>

#include "argand/ops/define.h"
#include "argand/ops/matmul/args.h"

namespace argand::ops {
namespace {

constexpr int kEllipsisBase = 128;  // labels of dimensions behind "..." follow those of letters

struct Equation {
  std::vector<std::vector<int>> operands;  // labels of each operand's dimensions
  std::vector<int> result;
  std::vector<int> order;  // all labels: those of the result first
};

// The subscripts of one operand, or of the output: the letters, and the index of the letter before which the ellipsis
// stands.
struct Term {
  std::vector<int> letters;
  std::optional<size_t> ellipsis;
};

// The terms between two positions of the equation: those of the operands, or the output.
std::vector<Term> read_terms(const std::string& text, size_t begin, size_t end, bool is_output) {
  std::vector<Term> terms(1);
  for (size_t i = begin; i < end; ++i) {
    Term& term = terms.back();
    const char c = text[i];
    if (c == ' ') continue;
    if (c == ',' && !is_output) {
      terms.emplace_back();
    } else if (c == '.') {
      const auto of = [&] { return is_output ? std::string("output") : str("operand ", terms.size() - 1); };
      ARGAND_CHECK(ValueError, !term.ellipsis, "einsum(): found '.' for ", of(),
                   is_output ? " but an ellipsis (...) was already found" : " for which an ellipsis was already found");
      ARGAND_CHECK(ValueError, i + 3 <= end && text.compare(i, 3, "...") == 0, "einsum(): found '.' for ", of(),
                   " that is not part of any ellipsis", is_output ? " (...)" : "");
      term.ellipsis = term.letters.size();
      i += 2;
    } else {
      ARGAND_CHECK(ValueError, (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'),
                   "einsum(): invalid subscript given at index ", i,
                   " in the equation string, subscripts must be in [a-zA-Z], got '", std::string(1, c), "'");
      term.letters.push_back(c);
    }
  }
  return terms;
}

// The labels of all dimensions.  The ellipsis stands for `covered` of them, which are numbered from the right.
std::vector<int> labels_of(const Term& term, int64_t covered) {
  std::vector<int> labels = term.letters, of_ellipsis;
  if (!term.ellipsis) return labels;
  for (int64_t k = covered; k > 0; --k) of_ellipsis.push_back(kEllipsisBase + static_cast<int>(k));
  labels.insert(labels.begin() + static_cast<std::ptrdiff_t>(*term.ellipsis), of_ellipsis.begin(), of_ellipsis.end());
  return labels;
}

// The number of dimensions that an operand's ellipsis covers.
int64_t covered_by_ellipsis(const Term& term, int64_t rank, size_t operand) {
  const auto letters = static_cast<int64_t>(term.letters.size());
  ARGAND_CHECK(ShapeError, term.ellipsis || letters == rank, "einsum(): the number of subscripts in the equation (",
               letters, ") does not match the number of dimensions (", rank, ") for operand ", operand,
               " and no ellipsis was given");
  ARGAND_CHECK(ShapeError, letters <= rank, "einsum(): the number of subscripts in the equation (", letters,
               ") is more than the number of dimensions (", rank, ") for operand ", operand);
  return rank - letters;
}

Equation parse_equation(const std::string& text, const std::vector<Tensor>& tensors) {
  const size_t arrow = text.find("->");
  const auto terms = read_terms(text, 0, std::min(arrow, text.size()), false);
  ARGAND_CHECK(ValueError, terms.size() == tensors.size(),
               "einsum(): ", terms.size() > tensors.size() ? "fewer" : "more",
               " operands were provided than specified in the equation: ", tensors.size(), " of ", terms.size());
  Equation eq;
  std::map<int, int> count;
  int64_t ellipsis_rank = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const int64_t covered = covered_by_ellipsis(terms[i], tensors[i].dim(), i);
    ellipsis_rank = std::max(ellipsis_rank, covered);
    eq.operands.push_back(labels_of(terms[i], covered));
    for (const int label : eq.operands.back()) ++count[label];
  }
  if (arrow != std::string::npos) {
    eq.result = labels_of(read_terms(text, arrow + 2, text.size(), true)[0], ellipsis_rank);
  } else {  // implicit: the ellipsis, then letters that appear once, in order
    for (int64_t k = ellipsis_rank; k > 0; --k) eq.result.push_back(kEllipsisBase + static_cast<int>(k));
    for (const auto& [label, n] : count)
      if (n == 1 && label < kEllipsisBase) eq.result.push_back(label);
  }
  eq.order = eq.result;
  for (const int label : eq.result) {
    ARGAND_CHECK(ValueError, count.count(label), "einsum(): output subscript ",
                 std::string(1, static_cast<char>(label)), " does not appear in the equation for any input operand");
    ARGAND_CHECK(ValueError, std::count(eq.result.begin(), eq.result.end(), label) == 1, "einsum(): output subscript ",
                 std::string(1, static_cast<char>(label)), " appears more than once in the output");
    count.erase(label);
  }
  for (const auto& [label, n] : count) eq.order.push_back(label);
  return eq;
}

// A repeated label of one operand is its diagonal: a view with the strides added.
Tensor take_diagonals(Tensor t, std::vector<int>& labels, size_t operand) {
  for (size_t i = 0; i < labels.size(); ++i) {
    for (size_t j = i + 1; j < labels.size();) {
      if (labels[i] != labels[j]) {
        ++j;
        continue;
      }
      ARGAND_CHECK(ShapeError, t.sizes()[i] == t.sizes()[j], "einsum(): subscript ",
                   std::string(1, static_cast<char>(labels[i])), " is repeated for operand ", operand,
                   " but the sizes don't match, ", t.sizes()[j], " != ", t.sizes()[i]);
      Dims sizes(t.sizes()), strides(t.strides());
      strides[i] += strides[j];
      sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(j));
      strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(j));
      t = t.as_strided(sizes, strides);
      labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
  return t;
}

// The operand with one dimension per label of `order`, size 1 where it has none.
Tensor align(const Tensor& t, const std::vector<int>& labels, const std::vector<int>& order) {
  Dims dims;
  std::vector<size_t> missing;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto at = std::find(labels.begin(), labels.end(), order[i]);
    if (at == labels.end())
      missing.push_back(i);
    else
      dims.push_back(at - labels.begin());
  }
  Tensor out = t.permute(dims);
  for (const size_t i : missing) out = out.unsqueeze(static_cast<int64_t>(i));
  return out;
}

// sum over `summed` of a * b, all aligned: labels in both and kept are the batch of one bmm.
Tensor contract(Tensor a, Tensor b, const std::vector<bool>& summed) {
  Dims only_a, only_b, both, inner, alone_a, alone_b;
  for (int64_t d = 0; d < a.dim(); ++d) {
    const bool in_a = a.sizes()[d] != 1, in_b = b.sizes()[d] != 1;
    if (summed[static_cast<size_t>(d)])
      (in_a && in_b ? inner : in_a ? alone_a : in_b ? alone_b : both).push_back(d);
    else
      (in_a && in_b ? both : in_a ? only_a : in_b ? only_b : both).push_back(d);
  }
  if (!alone_a.empty()) a = a.sum(alone_a, true);
  if (!alone_b.empty()) b = b.sum(alone_b, true);
  if (inner.empty()) return a * b;
  const auto count = [](const Tensor& t, const Dims& dims) {
    int64_t n = 1;
    for (const int64_t d : dims) n *= t.sizes()[d];
    return n;
  };
  const auto join = [](std::initializer_list<const Dims*> parts) {
    Dims out;
    for (const Dims* p : parts) out.insert_all(*p);
    return out;
  };
  const Dims rest = join({&alone_a, &alone_b});
  const Dims order_a = join({&both, &only_a, &inner, &only_b, &rest}),
             order_b = join({&both, &inner, &only_b, &only_a, &rest});
  const int64_t batch = count(a, both), rows = count(a, only_a), k = count(a, inner), columns = count(b, only_b);
  const Tensor product =
      a.permute(order_a).reshape({batch, rows, k}).bmm(b.permute(order_b).reshape({batch, k, columns}));
  const Dims order = join({&both, &only_a, &only_b, &inner, &rest});
  Dims sizes, back(order.size());
  for (const int64_t d : order) {
    const bool is_inner = std::find(inner.begin(), inner.end(), d) != inner.end();
    sizes.push_back(is_inner ? 1 : a.sizes()[d] == 1 ? b.sizes()[d] : a.sizes()[d]);
  }
  for (size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<int64_t>(i);
  return product.reshape(sizes).permute(back);
}

}  // namespace

struct Einsum : Composite<EinsumArgs> {
  static constexpr auto schema = "einsum(str equation, Tensor[] tensors) -> Tensor";
  static constexpr auto doc =
      "Sums of products in Einstein's notation, e.g. \"bij,bjk->bik\"; with ellipsis, repeated and implicit output "
      "subscripts.";
  static constexpr auto autocast = Autocast::kLowerPrecision, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static constexpr bool python_one_by_one = true;
  static constexpr bool python_sublists = true;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ValueError, !a.tensors.empty(),
                 "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
                 "subscripts list");
    Equation eq = parse_equation(a.equation, a.tensors);
    std::vector<Tensor> operands;
    for (size_t i = 0; i < a.tensors.size(); ++i) {
      const Tensor t = take_diagonals(a.tensors[i], eq.operands[i], i);
      operands.push_back(align(t, eq.operands[i], eq.order));
    }
    check_sizes(operands, eq);
    const auto needed_later = [&](size_t d, size_t from) {
      if (d < eq.result.size()) return true;
      for (size_t i = from; i < operands.size(); ++i)
        if (std::find(eq.operands[i].begin(), eq.operands[i].end(), eq.order[d]) != eq.operands[i].end()) return true;
      return false;
    };
    const auto summed_before = [&](size_t next) {
      std::vector<bool> summed(eq.order.size());
      for (size_t d = 0; d < summed.size(); ++d) summed[d] = !needed_later(d, next);
      return summed;
    };
    Tensor result = operands[0];
    if (operands.size() == 1) {
      Dims dims;
      for (size_t d = eq.result.size(); d < eq.order.size(); ++d) dims.push_back(static_cast<int64_t>(d));
      return dims.empty() ? result : result.sum(dims);
    }
    for (size_t i = 1; i < operands.size(); ++i) result = contract(result, operands[i], summed_before(i + 1));
    Dims last(result.sizes().slice(0, eq.result.size()));
    return result.reshape(last);
  }
  static void check_sizes(const std::vector<Tensor>& operands, const Equation& eq) {
    for (size_t d = 0; d < eq.order.size(); ++d) {
      int64_t size = 1;
      for (size_t i = 0; i < operands.size(); ++i) {
        const int64_t n = operands[i].sizes()[d];
        if (n != size && n != 1 && size != 1) throw_sizes(eq, eq.order[d], i, n, size);
        if (n != 1) size = n;
      }
    }
  }
  [[noreturn]] static void throw_sizes(const Equation& eq, int label, size_t operand, int64_t n, int64_t seen) {
    if (label < kEllipsisBase)
      ARGAND_THROW(ShapeError, "einsum(): subscript ", std::string(1, static_cast<char>(label)), " has size ", n,
                   " for operand ", operand, " which does not broadcast with previously seen size ", seen);
    const std::vector<int>& labels = eq.operands[operand];
    const auto covered = std::count_if(labels.begin(), labels.end(), [](int l) { return l > kEllipsisBase; });
    ARGAND_THROW(ShapeError, "einsum(): dimension ", covered - (label - kEllipsisBase),
                 " covered by ellipsis in operand ", operand, " has size ", n,
                 " which does not broadcast with previously seen ellipsis with size ", seen,
                 " for the respective dimension");
  }
  static void samples(S& s) {
    s.add({"ij,jk->ik", {s->real({2, 3}), s->real({3, 4})}});
    s.add({"bij,bjk->bik", {s->real({2, 3, 4}), s->real({2, 4, 2})}});
    s.add({"ii->i", {s->real({3, 3})}});
    s.add({"ij->", {s->real({2, 3})}});
    s.add({"i,j", {s->real({2}), s->real({3})}});
    s.add({"...ij,...jk->...ik", {s->real({2, 1, 2, 3}), s->real({4, 3, 2})}});
    s.add({"bn,anm,bm->ba", {s->real({2, 3}), s->real({5, 3, 4}), s->real({2, 4})}});
    s.fails({"ij,jk->ik", {s->real({2, 3})}},
            "einsum(): fewer operands were provided than specified in the equation: 1 of 2");
    s.fails({"ij,jk->ik", {s->real({2, 3}), s->real({4, 2})}},
            "einsum(): subscript j has size 4 for operand 1 which does not broadcast with previously seen size 3");
    s.fails({"i1->i", {s->real({2, 3})}}, "einsum(): invalid subscript given at index 1 in the equation string");
    s.fails({"i..", {s->real({2, 3})}}, "einsum(): found '.' for operand 0 that is not part of any ellipsis");
    s.fails({"i->i.", {s->real({2})}}, "einsum(): found '.' for output that is not part of any ellipsis (...)");
    s.fails({"ii", {s->real({2, 3})}}, "subscript i is repeated for operand 0 but the sizes don't match, 3 != 2");
    s.fails({"...,...", {s->real({2}), s->real({2, 3})}},
            "einsum(): dimension 1 covered by ellipsis in operand 1 has size 3 which does not broadcast");
  }
};
ARGAND_OP(Einsum)

}  // namespace argand::ops
