#include "argand/io/value.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <unordered_map>

#include "argand/base/hash.h"

namespace argand::io {

namespace {

constexpr int kMaxKeyParts = 256;
// A table that needs more steps than this was attacked with colliding keys.
constexpr size_t kMaxProbes = 4096;
constexpr size_t kSmallTable = 8;  // up to this size keys are compared one by one

// Differs from process to process, so that nobody can write a file of keys that collide.
uint64_t seed() {
  static const uint64_t value =
      hash_combine(reinterpret_cast<uintptr_t>(&kMaxProbes),
                   static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  return value;
}

using Kind = Value::Kind;

bool has_text(Kind k) { return k == Kind::kBigInt || k == Kind::kString || k == Kind::kBytes || k == Kind::kLayout; }

// A number as the simplest kind that is equal to it.
Value simplest(const Value& v) {
  if (v.kind() == Kind::kBool) return int64_t{v.to_bool()};
  if (v.kind() == Kind::kComplex && v.to_complex().imag() == 0) return simplest(v.to_complex().real());
  if (v.kind() != Kind::kDouble) return v;
  const double d = v.to_double();
  // 2^63 itself does not fit.
  if (d == std::floor(d) && d >= -0x1p63 && d < 0x1p63) return static_cast<int64_t>(d);
  return v;
}

bool is_sequence_key(Kind k) { return k == Kind::kTuple || k == Kind::kSize; }

void check_key(const Value& key, int& parts) {
  ARGAND_CHECK(ValueError, --parts >= 0, "a key has more than ", kMaxKeyParts, " parts");
  switch (key.kind()) {
    case Kind::kTuple:
    case Kind::kSize:
    case Kind::kFrozenSet:
      for (size_t i = 0; i < key.size(); ++i) check_key(key[i], parts);
      return;
    case Kind::kNone:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kBigInt:
    case Kind::kDouble:
    case Kind::kComplex:
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kDtype:
    case Kind::kDevice:
    case Kind::kLayout:
      return;
    default:
      ARGAND_THROW(ValueError, "a ", Value::kind_name(key.kind()), " cannot be a key");
  }
}

// REQUIRES check_key().
uint64_t hash_of_key(const Value& key) {
  const Value v = simplest(key);
  const uint64_t start = hash_combine(seed(), static_cast<uint64_t>(v.kind() == Kind::kSize ? Kind::kTuple : v.kind()));
  if (has_text(v.kind())) return hash_of(v.text(), start);
  switch (v.kind()) {
    case Kind::kInt:
      return hash_combine(start, static_cast<uint64_t>(v.to_int()));
    case Kind::kDouble:
      return hash_combine(start, std::hash<double>()(v.to_double()));
    case Kind::kComplex:
      return hash_combine(hash_combine(start, std::hash<double>()(v.to_complex().real())),
                          std::hash<double>()(v.to_complex().imag()));
    case Kind::kDtype:
      return hash_combine(start, static_cast<uint64_t>(v.dtype()));
    case Kind::kDevice:
      return hash_of(v.device().str(), start);
    case Kind::kTuple:
    case Kind::kSize: {
      uint64_t h = start;
      for (size_t i = 0; i < v.size(); ++i) h = hash_combine(h, hash_of_key(v[i]));
      return h;
    }
    case Kind::kFrozenSet: {
      uint64_t h = start;  // in no order
      for (size_t i = 0; i < v.size(); ++i) h += hash_of_key(v[i]);
      return h;
    }
    default:
      return start;
  }
}

bool equal_keys(const Value& x, const Value& y) {
  if (x.identity() && x.identity() == y.identity()) return true;
  const Value a = simplest(x), b = simplest(y);
  if (is_sequence_key(a.kind()) && is_sequence_key(b.kind())) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!equal_keys(a[i], b[i])) return false;
    return true;
  }
  if (a.kind() != b.kind()) return false;
  if (has_text(a.kind())) return a.text() == b.text();
  switch (a.kind()) {
    case Kind::kInt:
      return a.to_int() == b.to_int();
    case Kind::kDouble:
      return a.to_double() == b.to_double();
    case Kind::kComplex:
      return a.to_complex() == b.to_complex();
    case Kind::kDtype:
      return a.dtype() == b.dtype();
    case Kind::kDevice:
      return a.device() == b.device();
    case Kind::kFrozenSet:
      if (a.size() != b.size()) return false;
      for (size_t i = 0; i < a.size(); ++i)
        if (!b.find(a[i])) return false;
      return true;
    default:
      return true;
  }
}

}  // namespace

struct Value::Node final : RefCounted {
  std::string text;
  std::vector<Value> items, values;  // elements or keys; the values of keys
  // The table of more than kSmallTable keys: position + 1 by hash, open addressing, at most half full.
  using Table = std::vector<std::pair<uint32_t, uint32_t>>;
  std::unique_ptr<Table> table;
  Tensor tensor;
  std::unique_ptr<Value> attributes;
  Node* next_dead = nullptr;

  size_t find(const Value& key) const {
    if (!table) {
      for (size_t i = 0; i < items.size(); ++i)
        if (equal_keys(items[i], key)) return i;
      return items.size();
    }
    const auto hash = static_cast<uint32_t>(hash_of_key(key));
    for (size_t probe = 0;; ++probe) {
      ARGAND_CHECK(ValueError, probe < kMaxProbes, "too many keys of one hash");
      const auto& [h, position] = (*table)[(hash + probe) & (table->size() - 1)];
      if (position == 0) return items.size();
      if (h == hash && equal_keys(items[position - 1], key)) return position - 1;
    }
  }
  void insert_last(uint32_t hash, size_t position) {
    for (size_t probe = 0;; ++probe) {
      ARGAND_CHECK(ValueError, probe < kMaxProbes, "too many keys of one hash");
      auto& slot = (*table)[(hash + probe) & (table->size() - 1)];
      if (slot.second != 0) continue;
      slot = {hash, static_cast<uint32_t>(position + 1)};
      return;
    }
  }
  // Index the last of items, which is new.
  void index_last() {
    if (items.size() <= kSmallTable) return;
    if (table && items.size() * 2 <= table->size())
      return insert_last(static_cast<uint32_t>(hash_of_key(items.back())), items.size() - 1);
    table = std::make_unique<Table>(table ? table->size() * 2 : 32);
    for (size_t i = 0; i < items.size(); ++i) insert_last(static_cast<uint32_t>(hash_of_key(items[i])), i);
  }

 protected:
  // A chain of a million lists must not be freed by a million nested calls: objects that die during another's
  // destruction are put on a list.
  void release_self() override {
    static thread_local Node* dead = nullptr;
    static thread_local bool busy = false;
    next_dead = dead;
    dead = this;
    if (busy) return;
    busy = true;
    while (dead) delete std::exchange(dead, dead->next_dead);
    busy = false;
  }
};

Value::Node& Value::node(bool condition, const char* expected) const {
  ARGAND_CHECK(ValueError, condition, "Value: expected ", expected, ", got a ", kind_name(kind_));
  return static_cast<Node&>(*node_);
}

Value::Value(std::complex<double> v) : kind_(Kind::kComplex), node_(make_intrusive<Node>()) {
  node(true, "").items = {v.real(), v.imag()};
}
Value::Value(std::string text) : kind_(Kind::kString), node_(make_intrusive<Node>()) {
  node(true, "").text = std::move(text);
}
Value::Value(const Device& v)
    : kind_(Kind::kDevice), number_{.i = static_cast<int64_t>(v.type()) * 256 + (v.index() + 1)} {}
Value::Value(Tensor v) : kind_(Kind::kTensor), node_(make_intrusive<Node>()) { node(true, "").tensor = std::move(v); }

Value Value::parameter(Tensor v) {
  Value out(std::move(v));
  out.kind_ = Kind::kParameter;
  return out;
}
Value Value::storage(Tensor elements) {
  Value out(std::move(elements));
  out.kind_ = Kind::kStorage;
  return out;
}
Value Value::with_text(Kind kind, std::string text) {
  Value out(std::move(text));
  out.kind_ = kind;
  return out;
}
Value Value::with_items(Kind kind, std::vector<Value> items) {
  Value out;
  out.kind_ = kind;
  out.node_ = make_intrusive<Node>();
  Node& n = out.node(out.is_sequence() || out.is_dict(), "a kind with elements");
  if (kind == Kind::kSet || kind == Kind::kFrozenSet) {
    for (Value& item : items) out.push_back(std::move(item));
  } else {
    ARGAND_CHECK(ValueError, items.empty() || out.is_sequence(), "Value: the elements of a dict have keys");
    n.items = std::move(items);
  }
  return out;
}

const char* Value::kind_name(Kind kind) {
  static constexpr const char* names[] = {"None",
                                          "bool",
                                          "int",
                                          "int",
                                          "float",
                                          "complex",
                                          "str",
                                          "bytes",
                                          "bytearray",
                                          "list",
                                          "tuple",
                                          "torch.Size",
                                          "slice",
                                          "range",
                                          "numpy.dtype",
                                          "numpy.ndarray",
                                          "numpy scalar",
                                          "set",
                                          "frozenset",
                                          "dict",
                                          "OrderedDict",
                                          "Counter",
                                          "defaultdict",
                                          "object",
                                          "dtype",
                                          "device",
                                          "layout",
                                          "tensor",
                                          "parameter",
                                          "storage",
                                          "type or function"};
  return names[static_cast<int>(kind)];
}

bool Value::to_bool() const {
  ARGAND_CHECK(ValueError, kind_ == Kind::kBool, "Value: expected a bool, got a ", kind_name(kind_));
  return number_.i != 0;
}
int64_t Value::to_int() const {
  ARGAND_CHECK(ValueError, kind_ == Kind::kInt, "Value: expected an integer of 64 bits, got a ", kind_name(kind_));
  return number_.i;
}
double Value::to_double() const {
  if (kind_ == Kind::kInt) return static_cast<double>(number_.i);
  ARGAND_CHECK(ValueError, kind_ == Kind::kDouble, "Value: expected a number, got a ", kind_name(kind_));
  return number_.d;
}
std::complex<double> Value::to_complex() const {
  if (kind_ != Kind::kComplex) return to_double();
  const std::vector<Value>& parts = node(true, "").items;
  return {parts[0].to_double(), parts[1].to_double()};
}
ScalarType Value::dtype() const {
  ARGAND_CHECK(ValueError, kind_ == Kind::kDtype, "Value: expected a dtype, got a ", kind_name(kind_));
  return static_cast<ScalarType>(number_.i);
}
Device Value::device() const {
  ARGAND_CHECK(ValueError, kind_ == Kind::kDevice, "Value: expected a device, got a ", kind_name(kind_));
  return {static_cast<DeviceType>(number_.i / 256), static_cast<DeviceIndex>(number_.i % 256 - 1)};
}
const Tensor& Value::tensor() const { return node(is_tensor() || kind_ == Kind::kStorage, "a tensor").tensor; }
const std::string& Value::text() const {
  return node(has_text(kind_) || kind_ == Kind::kByteArray || kind_ == Kind::kDefaultDict || kind_ == Kind::kObject ||
                  kind_ == Kind::kGlobal,
              "a text")
      .text;
}

size_t Value::size() const { return is_sequence() || is_dict() ? static_cast<const Node&>(*node_).items.size() : 0; }

const Value& Value::operator[](size_t i) const {
  const Node& n = node(is_sequence(), "a sequence");
  ARGAND_CHECK(IndexError, i < n.items.size(), "Value: index ", i, " is out of range for ", n.items.size(),
               " elements");
  return n.items[i];
}
const Value& Value::operator[](std::string_view key) const {
  const Value* found = find(std::string(key));
  ARGAND_CHECK(ValueError, found, "Value: there is no key '", key, "'");
  return *found;
}
const Value& Value::key(size_t i) const {
  const Node& n = node(is_dict(), "a dict");
  ARGAND_CHECK(IndexError, i < n.items.size(), "Value: index ", i, " is out of range for ", n.items.size(), " keys");
  return n.items[i];
}
const Value& Value::value(size_t i) const {
  const Node& n = node(is_dict(), "a dict");
  ARGAND_CHECK(IndexError, i < n.items.size(), "Value: index ", i, " is out of range for ", n.items.size(), " keys");
  return n.values[i];
}

const Value* Value::find(const Value& key) const {
  const bool is_set = kind_ == Kind::kSet || kind_ == Kind::kFrozenSet;
  const Node& n = node(is_dict() || is_set, "a dict or a set");
  int parts = kMaxKeyParts;
  check_key(key, parts);
  const size_t i = n.find(key);
  if (i == n.items.size()) return nullptr;
  return is_set ? &n.items[i] : &n.values[i];
}

void Value::set(const Value& key, Value value) {
  Node& n = node(is_dict(), "a dict");
  int parts = kMaxKeyParts;
  check_key(key, parts);
  const size_t i = n.find(key);
  if (i < n.items.size()) {
    n.values[i] = std::move(value);
    return;
  }
  n.items.push_back(key);
  n.values.push_back(std::move(value));
  n.index_last();
}

void Value::assign(std::vector<Value> items) {
  node(kind_ >= Kind::kNumpyDtype && kind_ <= Kind::kNumpyScalar, "a value of NumPy's").items = std::move(items);
}

void Value::push_back(Value element) {
  Node& n = node(kind_ == Kind::kList || kind_ == Kind::kSet || kind_ == Kind::kFrozenSet, "a list or a set");
  if (kind_ != Kind::kList) {
    int parts = kMaxKeyParts;
    check_key(element, parts);
    if (n.find(element) < n.items.size()) return;
  }
  n.items.push_back(std::move(element));
  if (kind_ != Kind::kList) n.index_last();
}

void Value::clear() {
  if (!node_) return;
  Node& n = node(true, "");
  // Freed when this object is consistent again.
  const std::vector<Value> items = std::exchange(n.items, {}), values = std::exchange(n.values, {});
  const std::unique_ptr<Value> attributes = std::move(n.attributes);
  n.table = nullptr;
}

const Value& Value::attributes() const {
  static const Value none = Value();
  const Value* found = node_ ? static_cast<const Node&>(*node_).attributes.get() : nullptr;
  return found ? *found : none;
}
void Value::set_attributes(Value dict) {
  Node& n = node(is_dict() || is_tensor(), "a dict or a tensor");
  ARGAND_CHECK(ValueError, dict.is_none() || dict.is_dict(), "Value: expected a dict of attributes, got a ",
               kind_name(dict.kind()));
  n.attributes = std::make_unique<Value>(std::move(dict));
}

void check_nesting(const Value& root, size_t max) {
  struct Visit {
    Value value;
    size_t next = 0, depth = 1;  // the child to look at; how deep what was seen so far is
  };
  const auto child = [](const Value& v, size_t i) -> const Value* {
    const size_t n = v.size();
    if (v.is_sequence() && i < n) return &v[i];
    if (v.is_dict() && i < 2 * n) return i < n ? &v.key(i) : &v.value(i - n);
    const size_t last = v.is_dict() ? 2 * n : n;
    return i == last && v.attributes().is_dict() ? &v.attributes() : nullptr;
  };
  std::unordered_map<const void*, size_t> depths;  // 0 while it is visited
  std::vector<Visit> path;
  const auto enter = [&](const Value& v) -> size_t {  // its depth if that is known
    ARGAND_CHECK(ValueError, v.kind() != Kind::kGlobal, "the name ", v.text(), " stands by itself");
    if (!child(v, 0)) return 1;
    const auto [it, added] = depths.emplace(v.identity(), 0);
    if (!added) {
      ARGAND_CHECK(ValueError, it->second > 0, "a ", Value::kind_name(v.kind()), " that holds itself");
      return it->second;
    }
    path.push_back({v});
    ARGAND_CHECK(ValueError, path.size() <= max, "values nested deeper than ", max);
    return 0;
  };
  enter(root);
  while (!path.empty()) {
    Visit& top = path.back();
    const Value* next = child(top.value, top.next);
    if (next) {
      ++top.next;
      const size_t known = enter(*next);  // may move `top`
      if (known > 0) path.back().depth = std::max(path.back().depth, known + 1);
      continue;
    }
    const size_t depth = top.depth;
    ARGAND_CHECK(ValueError, depth <= max, "values nested deeper than ", max);
    depths[top.value.identity()] = depth;
    path.pop_back();
    if (!path.empty()) path.back().depth = std::max(path.back().depth, depth + 1);
  }
}

}  // namespace argand::io
