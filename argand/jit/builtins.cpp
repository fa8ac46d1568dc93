#include "argand/jit/builtins.h"

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "argand/autograd/dict.h"
#include "argand/autograd/list.h"
#include "argand/jit/builtins_attention.h"
#include "argand/jit/types.h"
#include "argand/ops/functions.h"

namespace argand::jit {

using Kind = IValue::Kind;

const IValue* BuiltinCall::given(size_t position, std::string_view keyword) const {
  const IValue* out = position < positional() ? &arguments[position] : nullptr;
  for (size_t k = 0; k < keywords.size(); ++k)
    if (keywords[k] == keyword) out = &arguments[positional() + k];
  return out && !out->isNone() ? out : nullptr;
}

Builtin find_builtin(const std::string& name) {
  static const auto& table = *new std::unordered_map<std::string_view, std::vector<Builtin>>([] {
    std::unordered_map<std::string_view, std::vector<Builtin>> out;
    for (const auto& part : {number_builtins(), list_builtins(), dict_builtins(), text_builtins(),
                             text_layout_builtins(), tensor_builtins(), attention_builtins(), value_builtins()})
      for (const NamedBuiltin& b : part) out[b.name].push_back(b.function);
    return out;
  }());
  const auto it = table.find(name);
  if (it == table.end()) return nullptr;
  if (it->second.size() == 1) return it->second[0];
  // Several subjects share the name; each declines what is not its own.
  return [](const BuiltinCall& call, IValue& result) {
    for (const Builtin f : table.find(call.name)->second)
      if (f(call, result)) return true;
    return false;
  };
}

IValue number_of(const Scalar& s) {
  if (s.isBoolean()) return s.toBool();
  if (s.isComplex()) return IValue(s);
  return s.isFloatingPoint() ? IValue(s.toDouble()) : IValue(s.toLong());
}

bool truth(const IValue& v) {
  switch (v.kind()) {
    case Kind::kBool:
      return v.toBool();
    case Kind::kInt:
      return v.toInt() != 0;
    case Kind::kDouble:
      return v.toDouble() != 0;
    case Kind::kTensor:
      return v.toTensor().item().toBool();
    case Kind::kString:
      return !v.toStringRef().empty();
    default:
      ARGAND_THROW(ValueError, "expected a condition, got a value of type ", v.tagKind());
  }
}

namespace {

bool all_equal(const std::vector<IValue>& a, const std::vector<IValue>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal);
}

}  // namespace

bool equal(const IValue& a, const IValue& b) {
  if (a.isScalar() && b.isScalar()) {
    if (a.isInt() && b.isInt()) return a.toInt() == b.toInt();
    return a.toScalar() == b.toScalar();
  }
  if (a.kind() != b.kind()) return a.isList() && b.isList() && length_of(a) == 0 && length_of(b) == 0;
  switch (a.kind()) {
    case Kind::kList:
      check_depth(a), check_depth(b);
      return all_equal(a.toListRef(), b.toListRef());
    case Kind::kTuple:
      check_depth(a), check_depth(b);
      return all_equal(a.toTupleRef().elements(), b.toTupleRef().elements());
    case Kind::kDict: {
      check_depth(a), check_depth(b);
      const auto &x = *a.dict_elements(), &y = *b.dict_elements();
      if (x.entries.size() != y.entries.size()) return false;
      for (const auto& [key, value] : x.entries) {
        const size_t i = y.find(key);
        if (i == y.entries.size() || !equal(value, y.entries[i].second)) return false;
      }
      return true;
    }
    default:
      return a == b;
  }
}

size_t position_of(int64_t index, size_t size) {
  const auto n = static_cast<int64_t>(size);
  const int64_t i = index < 0 ? index + n : index;
  ARGAND_CHECK(IndexError, i >= 0 && i < n, "list index out of range: ", index, " of ", n, " elements");
  return static_cast<size_t>(i);
}

size_t length_of(const IValue& v) {
  switch (v.kind()) {
    case Kind::kIntList:
      return v.toIntVector().size();
    case Kind::kDoubleList:
      return v.toDoubleVector().size();
    case Kind::kTensorList:
      return v.toTensorVector().size();
    case Kind::kList:
      return v.toListRef().size();
    case Kind::kTuple:
      return v.toTupleRef().size();
    case Kind::kDict:
      return v.dict_elements()->entries.size();
    case Kind::kString:
      return v.toStringRef().size();
    case Kind::kTensor:
      ARGAND_CHECK(ShapeError, v.toTensor().dim() > 0, "len() of a 0-d tensor");
      return static_cast<size_t>(v.toTensor().size(0));
    default:
      ARGAND_THROW(ValueError, "a value of type ", v.tagKind(), " has no length");
  }
}

IValue element_of(const IValue& v, const IValue& key) {
  switch (v.kind()) {
    case Kind::kIntList:
      return v.toIntVector()[position_of(key.toInt(), v.toIntVector().size())];
    case Kind::kDoubleList:
      return v.toDoubleVector()[position_of(key.toInt(), v.toDoubleVector().size())];
    case Kind::kTensorList:
      return v.toTensorVector()[position_of(key.toInt(), v.toTensorVector().size())];
    case Kind::kList:
      return v.toListRef()[position_of(key.toInt(), v.toListRef().size())];
    case Kind::kTuple:
      return v.toTupleRef().elements()[position_of(key.toInt(), v.toTupleRef().size())];
    case Kind::kString:
      return std::string(1, v.toStringRef()[position_of(key.toInt(), v.toStringRef().size())]);
    case Kind::kDict: {
      const auto& d = *v.dict_elements();
      const size_t i = d.find(key);
      ARGAND_CHECK(ValueError, i < d.entries.size(), "KeyError: ", text_of(key));
      return d.entries[i].second;
    }
    case Kind::kTensor:
      return v.toTensor().select(0, key.toInt());
    default:
      ARGAND_THROW(ValueError, "a value of type ", v.tagKind(), " has no elements");
  }
}

void set_element(const IValue& v, const IValue& key, IValue value) {
  switch (v.kind()) {
    case Kind::kIntList: {
      const List<int64_t> l = v.toIntList();
      l[position_of(key.toInt(), l.size())] = value.toInt();
      return;
    }
    case Kind::kDoubleList: {
      const List<double> l = v.toDoubleList();
      l[position_of(key.toInt(), l.size())] = value.toScalar().toDouble();
      return;
    }
    case Kind::kTensorList: {
      const List<Tensor> l = v.toTensorList();
      l[position_of(key.toInt(), l.size())] = value.toTensor();
      return;
    }
    case Kind::kList: {
      const List<IValue> l = v.toList();
      l[position_of(key.toInt(), l.size())] = std::move(value);
      return;
    }
    case Kind::kDict: {
      auto& d = *v.dict_elements();
      const auto [i, is_new] = d.insert(key, value);
      if (!is_new) d.entries[i].second = std::move(value);
      return;
    }
    case Kind::kTensor: {
      const Tensor place = v.toTensor().select(0, key.toInt());
      if (value.isTensor())
        place.copy_(value.toTensor());
      else
        place.fill_(value.toScalar());
      return;
    }
    default:
      ARGAND_THROW(ValueError, "an element is set in a value of type ", v.tagKind());
  }
}

namespace {

template <class Sequence>
Sequence sliced(const Sequence& from, const IValue& start, const IValue& stop, int64_t step) {
  ARGAND_CHECK(ValueError, step != 0, "slice step cannot be zero");
  const auto n = static_cast<int64_t>(from.size());
  const auto within = [&](const IValue& v, int64_t otherwise, int64_t low, int64_t high) {
    if (v.isNone()) return otherwise;
    int64_t i = v.toInt();
    if (i < 0) i = i < -n ? -1 : i + n;
    return std::clamp(i, low, high);
  };
  Sequence out;
  if (step > 0)
    for (int64_t i = within(start, 0, 0, n), end = within(stop, n, 0, n); i < end; i += std::min(step, n))
      out.push_back(from[static_cast<size_t>(i)]);
  else
    for (int64_t i = within(start, n - 1, -1, n - 1), end = within(stop, -1, -1, n - 1); i > end;
         i += std::max(step, -n))
      out.push_back(from[static_cast<size_t>(i)]);
  return out;
}

}  // namespace

IValue slice_of(const IValue& v, const IValue& start, const IValue& stop, const IValue& step) {
  const int64_t by = step.isNone() ? 1 : step.toInt();
  switch (v.kind()) {
    case Kind::kIntList:
      return sliced(v.toIntVector(), start, stop, by);
    case Kind::kDoubleList:
      return sliced(v.toDoubleVector(), start, stop, by);
    case Kind::kTensorList:
      return sliced(v.toTensorVector(), start, stop, by);
    case Kind::kList:
      return sliced(v.toListRef(), start, stop, by);
    case Kind::kTuple:
      return ivalue::Tuple::create(sliced(v.toTupleRef().elements(), start, stop, by));
    case Kind::kString:
      return sliced(v.toStringRef(), start, stop, by);
    default:
      ARGAND_THROW(ValueError, "a value of type ", v.tagKind(), " cannot be sliced");
  }
}

std::string text_of(const IValue& v) {
  if (v.isString()) return v.toStringRef();
  check_depth(v);
  std::ostringstream out;
  out << v;
  return out.str();
}

}  // namespace argand::jit
