// Lists, and what they share with tuples.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "argand/autograd/list.h"
#include "argand/jit/builtins.h"
#include "argand/jit/expressions.h"
#include "argand/jit/types.h"

namespace argand::jit {

namespace {

// The element as the list holds it.
template <class T>
T element_as(const IValue& v) {
  if constexpr (std::is_same_v<T, int64_t>)
    return v.toInt();
  else if constexpr (std::is_same_v<T, double>)
    return v.isInt() ? static_cast<double>(v.toInt()) : v.toDouble();
  else if constexpr (std::is_same_v<T, Tensor>)
    return v.toTensor();
  else
    return v;
}

// f(elements) with the vector that the list shares with all its handles.  False if it is no list.
template <class F>
bool on_list(const IValue& list, F f) {
  switch (list.kind()) {
    case IValue::Kind::kIntList:
      f(*list.toIntList().elements());
      return true;
    case IValue::Kind::kDoubleList:
      f(*list.toDoubleList().elements());
      return true;
    case IValue::Kind::kTensorList:
      f(*list.toTensorList().elements());
      return true;
    case IValue::Kind::kList:
      f(*list.toList().elements());
      return true;
    default:
      return false;
  }
}
template <class Vector>
using Element = typename std::decay_t<Vector>::value_type;

// The elements of a second list, of the kind of the first.
template <class T>
std::vector<T> elements_as(const IValue& list) {
  std::vector<T> out;
  const bool is_list = on_list(list, [&](const auto& from) {
    for (const auto& e : from) out.push_back(element_as<T>(IValue(e)));
  });
  ARGAND_CHECK(ValueError, is_list, "expected a list, got a value of type ", list.tagKind());
  return out;
}

bool same(const IValue& a, const IValue& b) {
  return a.isTensor() ? b.isTensor() && a.toTensor().is_same(b.toTensor()) : equal(a, b);
}

// The order of sort().
bool less(const IValue& a, const IValue& b) {
  if (a.isString() && b.isString()) return a.toStringRef() < b.toStringRef();
  if (a.isScalar() && b.isScalar()) return a.toScalar().toDouble() < b.toScalar().toDouble();
  if (a.isTuple() && b.isTuple()) {
    const auto &x = a.toTupleRef().elements(), &y = b.toTupleRef().elements();
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(), less);
  }
  if (a.isObject() && b.isObject()) return call_method(a.toObject(), "__lt__", {b}).toBool();
  ARGAND_THROW(ValueError, "values of the types ", a.tagKind(), " and ", b.tagKind(), " have no order");
}
// A merge sort, which stays inside of its memory even if a program's __lt__ contradicts itself or changes the list.
std::vector<IValue> merge_sorted(std::vector<IValue> from, bool reverse) {
  std::vector<IValue> to(from.size());
  const size_t n = from.size();
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t begin = 0; begin < n; begin += 2 * width) {
      const size_t middle = std::min(begin + width, n), end = std::min(begin + 2 * width, n);
      for (size_t i = begin, j = middle, k = begin; k < end; ++k) {
        const bool second = i == middle || (j < end && (reverse ? less(from[i], from[j]) : less(from[j], from[i])));
        to[k] = std::move(from[second ? j++ : i++]);
      }
    }
    std::swap(from, to);
  }
  return from;
}
template <class T>
void sort_elements(std::vector<T>& elements, bool reverse) {
  if constexpr (std::is_same_v<T, IValue>) {
    elements = merge_sorted(elements, reverse);
  } else {
    const auto before = [](const T& a, const T& b) {
      if constexpr (std::is_same_v<T, Tensor>)
        return a.lt(b).item().toBool();
      else
        return a < b;
    };
    // A NaN would break the order that the algorithm relies on; a merge sort ends in any case.
    if (reverse)
      std::stable_sort(elements.begin(), elements.end(), [&](const T& a, const T& b) { return before(b, a); });
    else
      std::stable_sort(elements.begin(), elements.end(), before);
  }
}

bool append(const BuiltinCall& c, IValue& out) {
  out = c[0];
  return c.size() == 2 && on_list(c[0], [&](auto& l) { l.push_back(element_as<Element<decltype(l)>>(c[1])); });
}
bool extend(const BuiltinCall& c, IValue& out) {
  if (c.size() != 2 || !c[1].isList()) return false;
  out = c[0];
  return on_list(c[0], [&](auto& l) {
    const auto more = elements_as<Element<decltype(l)>>(c[1]);
    l.insert(l.end(), more.begin(), more.end());
  });
}
bool insert(const BuiltinCall& c, IValue&) {
  return c.size() == 3 && on_list(c[0], [&](auto& l) {
           const auto n = static_cast<int64_t>(l.size());
           int64_t i = c[1].toInt();
           if (i < 0) i = i < -n ? 0 : i + n;
           l.insert(l.begin() + std::min(i, n), element_as<Element<decltype(l)>>(c[2]));
         });
}
bool pop(const BuiltinCall& c, IValue& out) {
  return on_list(c[0], [&](auto& l) {
    ARGAND_CHECK(IndexError, !l.empty(), "pop from empty list");
    const auto at = l.begin() + static_cast<std::ptrdiff_t>(position_of(c.size() > 1 ? c[1].toInt() : -1, l.size()));
    out = IValue(Element<decltype(l)>(*at));
    l.erase(at);
  });
}
bool clear(const BuiltinCall& c, IValue&) {
  return on_list(c[0], [](auto& l) { l.clear(); });
}
bool reverse(const BuiltinCall& c, IValue&) {
  return on_list(c[0], [](auto& l) { std::reverse(l.begin(), l.end()); });
}
bool copy(const BuiltinCall& c, IValue& out) {
  return c.size() == 1 && on_list(c[0], [&](auto& l) { out = l; });
}
bool to_list(const BuiltinCall& c, IValue& out) {
  if (c[0].isString()) {
    std::vector<IValue> letters;
    for (const char letter : c[0].toStringRef()) letters.emplace_back(std::string(1, letter));
    out = std::move(letters);
    return true;
  }
  if (c[0].isTuple()) {
    std::vector<IValue> elements = c[0].toTupleRef().elements();
    out = typed_list(elements);
    return true;
  }
  return copy(c, out);
}

// The position of the first element equal to the second argument, or the length.
template <class Vector>
size_t find_in(const Vector& l, const IValue& v) {
  size_t i = 0;
  while (i < l.size() && !same(IValue(Element<Vector>(l[i])), v)) ++i;
  return i;
}
bool index(const BuiltinCall& c, IValue& out) {
  if (c.size() != 2) return false;
  if (c[0].isTensor()) return false;
  return on_list(c[0], [&](const auto& l) {
    const size_t i = find_in(l, c[1]);
    c.need(i < l.size(), "'", text_of(c[1]), "' is not in list");
    out = static_cast<int64_t>(i);
  });
}
bool count(const BuiltinCall& c, IValue& out) {
  return c.size() == 2 && on_list(c[0], [&](const auto& l) {
           int64_t n = 0;
           for (const auto& e : l) n += same(IValue(Element<decltype(l)>(e)), c[1]);
           out = n;
         });
}
bool remove(const BuiltinCall& c, IValue&) {
  return c.size() == 2 && on_list(c[0], [&](auto& l) {
           const size_t i = find_in(l, c[1]);
           c.need(i < l.size(), "list.remove(x): x not in list");
           l.erase(l.begin() + static_cast<std::ptrdiff_t>(i));
         });
}
bool erase(const BuiltinCall& c, IValue&) {
  return c.size() == 2 && on_list(c[0], [&](auto& l) {
           l.erase(l.begin() + static_cast<std::ptrdiff_t>(position_of(c[1].toInt(), l.size())));
         });
}
bool contains(const BuiltinCall& c, IValue& out) {
  if (c.size() != 2) return false;
  if (c[0].isTuple()) {
    const auto& elements = c[0].toTupleRef().elements();
    out = find_in(elements, c[1]) < elements.size();
    return true;
  }
  return on_list(c[0], [&](const auto& l) { out = find_in(l, c[1]) < l.size(); });
}

bool sort(const BuiltinCall& c, IValue&) {
  const bool reverse = c.size() > 1 && c[1].isBool() && c[1].toBool();
  return on_list(c[0], [&](auto& l) { sort_elements(l, reverse); });
}
bool sorted(const BuiltinCall& c, IValue& out) {
  if (!copy({c.name, c.arguments.subspan(0, 1), {}}, out)) return false;
  const bool reverse = c.size() > 1 && c[1].isBool() && c[1].toBool();
  return on_list(out, [&](auto& l) { sort_elements(l, reverse); });
}

bool add(const BuiltinCall& c, IValue& out) {
  if (c.size() != 2) return false;
  if (c[0].isTuple() && c[1].isTuple()) {
    std::vector<IValue> both = c[0].toTupleRef().elements();
    both.insert(both.end(), c[1].toTupleRef().elements().begin(), c[1].toTupleRef().elements().end());
    out = ivalue::Tuple::create(std::move(both));
    return true;
  }
  if (!c[0].isList() || !c[1].isList()) return false;
  const IValue& first = length_of(c[0]) == 0 ? c[1] : c[0];  // an empty list may be of another kind
  return on_list(first, [&](const auto& l) {
    using T = Element<decltype(l)>;
    std::vector<T> sum = elements_as<T>(c[0]);
    for (T& e : elements_as<T>(c[1])) sum.push_back(std::move(e));
    out = std::move(sum);
  });
}
bool mul(const BuiltinCall& c, IValue& out) {
  if (c.size() != 2) return false;
  const bool list_first = c[0].isList();
  const IValue &list = list_first ? c[0] : c[1], &times = list_first ? c[1] : c[0];
  if (!list.isList() || !times.isInt()) return false;
  return on_list(list, [&](const auto& l) {
    check_length(c, l.size(), times.toInt());
    std::decay_t<decltype(l)> product;
    for (int64_t i = 0; !l.empty() && i < times.toInt(); ++i) product.insert(product.end(), l.begin(), l.end());
    out = std::move(product);
  });
}
bool mul_in_place(const BuiltinCall& c, IValue& out) {
  if (!c[0].isList() || !mul(c, out)) return false;
  const IValue product = out;
  out = c[0];
  return on_list(out, [&](auto& l) { l = elements_as<Element<decltype(l)>>(product); });
}

bool sum(const BuiltinCall& c, IValue& out) {
  if (c[0].isIntList()) {
    uint64_t total = 0;
    for (const int64_t e : c[0].toIntVector()) total += static_cast<uint64_t>(e);
    out = static_cast<int64_t>(total);
    return true;
  }
  if (c[0].isDoubleList()) {
    const auto& l = c[0].toDoubleVector();
    out = std::accumulate(l.begin(), l.end(), 0.0);
    return true;
  }
  if (!c[0].isGenericList()) return false;
  int64_t total = 0;
  for (const IValue& e : c[0].toListRef()) total += e.toBool();
  out = total;
  return true;
}
bool truths(const BuiltinCall& c, IValue& out, bool stop) {
  bool found = false;
  if (!on_list(c[0], [&](const auto& l) {
        for (const auto& e : l) found |= truth(IValue(Element<decltype(l)>(e))) == stop;
      }))
    return false;
  out = found == stop;
  return true;
}
bool any(const BuiltinCall& c, IValue& out) { return truths(c, out, true); }
bool all(const BuiltinCall& c, IValue& out) { return truths(c, out, false); }

bool slice(const BuiltinCall& c, IValue& out) {
  if (!c[0].isList() && !c[0].isString()) return false;
  const auto at = [&](size_t i) { return i < c.size() ? c[i] : IValue(); };
  out = slice_of(c[0], at(1), at(2), at(3));
  return true;
}
bool get_item(const BuiltinCall& c, IValue& out) {
  if (c.size() != 2) return false;
  out = element_of(c[0], c[1]);
  return true;
}
bool set_item(const BuiltinCall& c, IValue& out) {
  if (c.size() != 3) return false;
  set_element(c[0], c[1], c[2]);
  out = c[0];
  return true;
}
bool len(const BuiltinCall& c, IValue& out) {
  out = static_cast<int64_t>(length_of(c[0]));
  return true;
}
bool range_list(const BuiltinCall& c, IValue& out) {
  const int64_t first = c.size() > 1 ? c[0].toInt() : 0, end = c[c.size() > 1 ? 1 : 0].toInt(),
                step = c.size() > 2 ? c[2].toInt() : 1;
  c.need(step != 0, "range() arg 3 must not be zero");
  const double length = std::ceil((static_cast<double>(end) - static_cast<double>(first)) / static_cast<double>(step));
  check_length(c, 1, length > static_cast<double>(kMostElements) ? std::numeric_limits<int64_t>::max() : 0);
  std::vector<int64_t> numbers;
  for (int64_t i = first; step > 0 ? i < end : i > end;) {
    numbers.push_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  out = std::move(numbers);
  return true;
}

constexpr NamedBuiltin kTable[] = {{"append", append},
                                   {"extend", extend},
                                   {"insert", insert},
                                   {"pop", pop},
                                   {"clear", clear},
                                   {"reverse", reverse},
                                   {"copy", copy},
                                   {"list", to_list},
                                   {"index", index},
                                   {"count", count},
                                   {"remove", remove},
                                   {"Delete", erase},
                                   {"__contains__", contains},
                                   {"sort", sort},
                                   {"sorted", sorted},
                                   {"add", add},
                                   {"add_", extend},
                                   {"mul", mul},
                                   {"mul_", mul_in_place},
                                   {"sum", sum},
                                   {"any", any},
                                   {"all", all},
                                   {"slice", slice},
                                   {"__getitem__", get_item},
                                   {"_set_item", set_item},
                                   {"__setitem__", set_item},
                                   {"len", len},
                                   {"rangelist", range_list}};

}  // namespace

std::span<const NamedBuiltin> list_builtins() { return kTable; }

}  // namespace argand::jit
