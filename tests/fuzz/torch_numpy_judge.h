// What the judge of PyTorch's files takes for NumPy's: dtypes, arrays and numbers.
#pragma once
#include <regex>

#include "tests/fuzz/torch_judge_values.h"

namespace argand::fuzz::torch {

// The bytes of an element of a dtype's text without its order, "f4"; refused if there is no such dtype.
inline uint64_t numpy_bytes(const std::string& code) {
  static const std::regex numbers("b1|[iu][1248]|f[248]|c8|c16"), texts("[SU][1-9][0-9]{0,6}");
  must(std::regex_match(code, numbers) || std::regex_match(code, texts));
  const uint64_t count = std::stoull(code.substr(1));
  must(count <= 1U << 20);
  return code[0] == 'U' ? count * 4 : count;
}
inline bool numpy_ordered(const std::string& code) {
  return code[0] == 'U' || (code[0] != 'S' && numpy_bytes(code) > 1);
}
inline uint64_t numpy_bytes(const V* dtype) {
  must(dtype->kind == kNumpyDtype);
  return numpy_bytes(dtype->items[0]->text.substr(1));
}

// `name` without its module, if it is one that a pickle may name.
inline std::string numpy_name(const std::string& full) {
  static const std::regex known("numpy\\.(dtype|ndarray)|numpy\\.(?:_core|core)\\.multiarray\\.(_reconstruct|scalar)");
  std::smatch m;
  return std::regex_match(full, m, known) ? m[1].str() + m[2].str() : "";
}

inline V* numpy_call(Arena& arena, const std::string& name, const std::vector<V*>& a) {
  if (name == "dtype") {
    must(a.size() == 3 && a[0]->kind == kText);
    numpy_bytes(a[0]->text);
    return arena.of_items(kNumpyDtype, {arena.of_text(kText, (numpy_ordered(a[0]->text) ? "<" : "|") + a[0]->text)});
  }
  if (name == "_reconstruct") {
    must(a.size() == 3 && a[0]->kind == kName && a[0]->text == "numpy.ndarray");
    must(a[1]->kind == kTuple && a[1]->items.size() == 1 && a[1]->items[0]->kind == kInt && a[1]->items[0]->i == 0);
    return arena.of_items(kNdarray, {arena.of_items(kNumpyDtype, {arena.of_text(kText, "|i1")}), a[1],
                                     arena.of_int(0, kBool), arena.of_text(kBytes, "")});
  }
  must(name == "scalar" && a.size() == 2 && a[1]->kind == kBytes && a[1]->text.size() == numpy_bytes(a[0]));
  return arena.of_items(kNumpyScalar, a);
}

inline void numpy_build(Arena& arena, V* object, const V* state) {
  must(state->kind == kTuple);
  const std::vector<V*>& s = state->items;
  if (object->kind == kNumpyDtype) {
    must(s.size() == 8 && s[0]->kind == kInt && s[0]->i == 3 && s[1]->kind == kText);
    for (const size_t i : {2, 3, 4}) must(s[i]->kind == kNone);
    for (const size_t i : {5, 6, 7}) must(s[i]->kind == kInt);
    const std::string code = object->items[0]->text.substr(1);
    must(s[5]->i == -1 || s[5]->i == static_cast<int64_t>(numpy_bytes(code)));
    must(s[1]->text == "|" ? !numpy_ordered(code) : numpy_ordered(code) && (s[1]->text == "<" || s[1]->text == ">"));
    object->items = {arena.of_text(kText, s[1]->text + code)};
    return;
  }
  must(s.size() == 5 && s[0]->kind == kInt && s[0]->i == 1 && s[1]->kind == kTuple && s[1]->items.size() <= 64);
  must(s[3]->kind == kBool && s[4]->kind == kBytes);
  Wide most = numpy_bytes(s[2]), bytes = most;
  for (const V* size : s[1]->items) {
    must(size->kind == kInt && size->i >= 0);
    bytes *= static_cast<Wide>(size->i);
    most *= std::max<Wide>(static_cast<Wide>(size->i), 1);
    must(most <= kMost);
  }
  must(bytes == s[4]->text.size());
  object->items = {s[2], s[1], s[3], s[4]};
}

}  // namespace argand::fuzz::torch
