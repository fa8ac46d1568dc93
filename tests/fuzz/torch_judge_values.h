// The values that the judge of PyTorch's files makes, and when two of them are the same key.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace argand::fuzz::torch {

struct Refused {};
struct Large {};
inline void must(bool condition) {
  if (!condition) throw Refused();
}

using Wide = unsigned __int128;
constexpr Wide kMost = static_cast<Wide>(INT64_MAX);

enum Kind {
  kNone,
  kBool,
  kInt,
  kBig,
  kFloat,
  kComplex,
  kText,
  kBytes,
  kByteArray,
  kList,
  kTuple,
  kSize,
  kSlice,
  kRange,
  kNumpyDtype,
  kNdarray,
  kNumpyScalar,
  kSet,
  kFrozen,
  kDict,
  kOrdered,
  kCounter,
  kDefault,
  kObject,
  kDtype,
  kDevice,
  kLayout,
  kTensor,
  kParameter,
  kStorage,
  kName
};

struct Dtype {
  const char *name, *storage;
  unsigned bytes, number;  // of an element, and of what its byte order is about
  bool differentiable;
};
constexpr Dtype kDtypes[] = {{"float32", "FloatStorage", 4, 4, true},
                             {"float64", "DoubleStorage", 8, 8, true},
                             {"float16", "HalfStorage", 2, 2, true},
                             {"bfloat16", "BFloat16Storage", 2, 2, true},
                             {"int64", "LongStorage", 8, 8, false},
                             {"int32", "IntStorage", 4, 4, false},
                             {"int16", "ShortStorage", 2, 2, false},
                             {"int8", "CharStorage", 1, 1, false},
                             {"uint8", "ByteStorage", 1, 1, false},
                             {"bool", "BoolStorage", 1, 1, false},
                             {"complex64", "ComplexFloatStorage", 8, 4, true},
                             {"complex128", "ComplexDoubleStorage", 16, 8, true}};
constexpr const Dtype* kByte = &kDtypes[8];

struct V {
  Kind kind = kNone;
  int64_t i = 0;
  double d = 0, e = 0;
  std::string text;
  std::vector<V*> items, values;
  V* attributes = nullptr;
  // For tensors and storages; `text` is the key of the storage, empty for a tensor without one.
  const Dtype* dtype = nullptr;
  std::vector<int64_t> sizes, strides;
  std::string* bytes = nullptr;
  bool grad = false;
  int state = 0, depth = 0;  // of the search for cycles
};

// Makes them and keeps them.
class Arena {
 public:
  V* make(Kind kind) {
    all_.push_back(std::make_unique<V>());
    all_.back()->kind = kind;
    return all_.back().get();
  }
  V* of_int(int64_t i, Kind kind = kInt) {
    V* v = make(kind);
    v->i = i;
    return v;
  }
  V* of_text(Kind kind, std::string_view text) {
    V* v = make(kind);
    v->text = text;
    return v;
  }
  V* of_items(Kind kind, std::vector<V*> items) {
    V* v = make(kind);
    v->items = std::move(items);
    return v;
  }

 private:
  std::vector<std::unique_ptr<V>> all_;
};

inline bool is_dict(const V* v) { return v->kind >= kDict && v->kind <= kObject; }
inline bool is_sequence(const V* v) { return v->kind >= kList && v->kind <= kFrozen; }
inline bool is_tensor(const V* v) { return v->kind == kTensor || v->kind == kParameter; }

inline bool is_utf8(std::string_view s) {
  for (size_t i = 0; i < s.size();) {
    const auto c = static_cast<uint8_t>(s[i]);
    const size_t more = c < 0x80 ? 0 : c < 0xC0 ? 9 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : c < 0xF8 ? 3 : 9;
    if (more == 9 || s.size() - i <= more) return false;
    uint32_t point = more == 0 ? c : c & (0x3FU >> more);
    for (size_t k = 1; k <= more; ++k) {
      if ((s[i + k] & 0xC0) != 0x80) return false;
      point = point << 6 | (static_cast<uint8_t>(s[i + k]) & 0x3F);
    }
    if ((more == 1 && point < 0x80) || (more == 2 && point < 0x800) ||
        (more == 3 && (point < 0x10000 || point > 0x10FFFF)) || (point >= 0xD800 && point <= 0xDFFF))
      return false;
    i += 1 + more;
  }
  return true;
}

// Two's complement, least significant byte first, as decimal digits.
inline std::string decimal(std::string bytes) {
  const bool negative = (bytes.back() & 0x80) != 0;
  if (negative) {
    bytes += '\xff';
    unsigned carry = 1;
    for (char& c : bytes) {
      carry += static_cast<uint8_t>(~c);
      c = static_cast<char>(carry & 0xFF);
      carry >>= 8;
    }
  }
  std::vector<uint32_t> groups;  // of nine digits
  for (size_t k = bytes.size(); k-- > 0;) {
    uint64_t carry = static_cast<uint8_t>(bytes[k]);
    for (uint32_t& group : groups) {
      carry += uint64_t{group} * 256;
      group = static_cast<uint32_t>(carry % 1000000000);
      carry /= 1000000000;
    }
    if (carry > 0) groups.push_back(static_cast<uint32_t>(carry));
  }
  std::string out = negative ? "-" : "";
  for (size_t k = groups.size(); k-- > 0;) {
    const std::string digits = std::to_string(groups[k]);
    out += (k + 1 == groups.size() ? "" : std::string(9 - digits.size(), '0')) + digits;
  }
  return out;
}

// ---- dicts and sets: keys as in Python

inline void check_key(const V* v, int& left) {
  must(--left >= 0);
  if (v->kind == kTuple || v->kind == kSize || v->kind == kFrozen) {
    for (const V* item : v->items) check_key(item, left);
  } else {
    must(v->kind <= kBytes || v->kind == kDtype || v->kind == kDevice || v->kind == kLayout);
  }
}
// A real number, if it is one of 64 bits: the kinds of numbers are equal where their values are.
inline std::optional<double> real(const V* v) {
  if (v->kind == kFloat) return v->d;
  if (v->kind == kComplex && v->e == 0) return v->d;
  return std::nullopt;
}
inline std::optional<int64_t> whole(const V* v) {
  if (v->kind == kBool || v->kind == kInt) return v->i;
  const auto d = real(v);
  if (d && *d >= -0x1p63 && *d < 0x1p63 && std::trunc(*d) == *d) return static_cast<int64_t>(*d);
  return std::nullopt;
}
inline bool holds(const V* set, const V* key);
inline bool equal(const V* a, const V* b) {
  if (a == b && a->kind != kFloat) return true;
  const auto ia = whole(a), ib = whole(b);
  if (ia || ib) return ia == ib;
  const auto da = real(a), db = real(b);
  if (da || db) return da && db && *da == *db;
  const bool sequence = a->kind == kTuple || a->kind == kSize;
  if (sequence != (b->kind == kTuple || b->kind == kSize) || (!sequence && a->kind != b->kind)) return false;
  if (sequence || a->kind == kFrozen) {
    if (a->items.size() != b->items.size()) return false;
    for (size_t i = 0; i < a->items.size(); ++i)
      if (sequence ? !equal(a->items[i], b->items[i]) : !holds(b, a->items[i])) return false;
    return true;
  }
  return a->text == b->text && a->dtype == b->dtype && a->i == b->i && a->d == b->d && a->e == b->e;
}
inline bool holds(const V* set, const V* key) {
  return std::any_of(set->items.begin(), set->items.end(), [&](const V* v) { return equal(v, key); });
}
inline void set(V* dict, V* key, V* value) {
  int left = 256;
  check_key(key, left);
  for (size_t i = 0; i < dict->items.size(); ++i)
    if (equal(dict->items[i], key)) {
      dict->values[i] = value;
      return;
    }
  dict->items.push_back(key);
  dict->values.push_back(value);
}

}  // namespace argand::fuzz::torch
