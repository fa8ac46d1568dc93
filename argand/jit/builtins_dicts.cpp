// Dicts.
#include "argand/autograd/dict.h"
#include "argand/jit/builtins.h"

namespace argand::jit {

namespace {

ivalue::DictElements& entries(const BuiltinCall& c) { return *c[0].dict_elements(); }
bool of_dict(const BuiltinCall& c, size_t least, size_t most) {
  return c.size() >= least && c.size() <= most && c[0].isGenericDict();
}
IValue pair_of(const std::pair<IValue, IValue>& entry) { return ivalue::Tuple::create({entry.first, entry.second}); }

template <class F>
bool collected(const BuiltinCall& c, IValue& out, F f) {
  if (!of_dict(c, 1, 1)) return false;
  std::vector<IValue> values;
  for (const auto& entry : entries(c).entries) values.push_back(f(entry));
  out = typed_list(values);
  return true;
}
bool keys(const BuiltinCall& c, IValue& out) {
  return collected(c, out, [](const auto& entry) { return entry.first; });
}
bool values(const BuiltinCall& c, IValue& out) {
  return collected(c, out, [](const auto& entry) { return entry.second; });
}
bool items(const BuiltinCall& c, IValue& out) {
  return collected(c, out, [](const auto& entry) { return pair_of(entry); });
}
bool contains(const BuiltinCall& c, IValue& out) {
  if (!of_dict(c, 2, 2)) return false;
  out = entries(c).find(c[1]) < entries(c).entries.size();
  return true;
}
bool get(const BuiltinCall& c, IValue& out) {
  if (!of_dict(c, 2, 3)) return false;
  const size_t i = entries(c).find(c[1]);
  out = i < entries(c).entries.size() ? entries(c).entries[i].second : c.size() == 3 ? c[2] : IValue();
  return true;
}
bool set_default(const BuiltinCall& c, IValue& out) {
  if (!of_dict(c, 3, 3)) return false;
  const size_t i = entries(c).insert(c[1], c[2]).first;
  out = entries(c).entries[i].second;
  return true;
}
bool pop(const BuiltinCall& c, IValue& out) {
  if (!of_dict(c, 2, 3)) return false;
  const size_t i = entries(c).find(c[1]);
  if (i == entries(c).entries.size()) {
    ARGAND_CHECK(ValueError, c.size() == 3, "KeyError: ", text_of(c[1]));
    out = c[2];
    return true;
  }
  out = entries(c).entries[i].second;
  entries(c).erase(i);
  return true;
}
bool pop_item(const BuiltinCall& c, IValue& out) {
  if (!of_dict(c, 1, 1)) return false;
  c.need(!entries(c).entries.empty(), "the dict is empty");
  out = pair_of(entries(c).entries[0]);  // the first one, unlike Python's
  entries(c).erase(0);
  return true;
}
bool erase(const BuiltinCall& c, IValue&) {
  if (!of_dict(c, 2, 2)) return false;
  const size_t i = entries(c).find(c[1]);
  ARGAND_CHECK(ValueError, i < entries(c).entries.size(), "KeyError: ", text_of(c[1]));
  entries(c).erase(i);
  return true;
}
bool clear(const BuiltinCall& c, IValue&) {
  if (!of_dict(c, 1, 1)) return false;
  entries(c).clear();
  return true;
}
bool update(const BuiltinCall& c, IValue&) {
  if (!of_dict(c, 2, 2) || !c[1].isGenericDict()) return false;
  if (c[0].dict_elements() == c[1].dict_elements()) return true;
  for (const auto& [key, value] : c[1].dict_elements()->entries) set_element(c[0], key, value);
  return true;
}
bool copy(const BuiltinCall& c, IValue& out) {
  if (!of_dict(c, 1, 1)) return false;
  out = c[0].toGenericDict().copy();
  return true;
}
// dict(), dict(other), dict([(key, value), ...])
bool make(const BuiltinCall& c, IValue& out) {
  const Dict<IValue, IValue> made;
  out = made;
  if (c.size() == 0) return true;
  if (c[0].isGenericDict()) return copy(c, out);
  for (const IValue& pair : c[0].toListRef()) {
    c.need(pair.isTuple() && pair.toTupleRef().size() == 2, "expected pairs of a key and a value");
    set_element(out, pair.toTupleRef().elements()[0], pair.toTupleRef().elements()[1]);
  }
  return true;
}

constexpr NamedBuiltin kTable[] = {{"keys", keys},     {"values", values},
                                   {"items", items},   {"__contains__", contains},
                                   {"get", get},       {"setdefault", set_default},
                                   {"pop", pop},       {"popitem", pop_item},
                                   {"Delete", erase},  {"clear", clear},
                                   {"update", update}, {"copy", copy},
                                   {"dict", make}};

}  // namespace

std::span<const NamedBuiltin> dict_builtins() { return kTable; }

}  // namespace argand::jit
