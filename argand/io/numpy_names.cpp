#include "argand/io/numpy_names.h"

#include <algorithm>

#include "argand/base/checked.h"

namespace argand::io {

namespace {

using Kind = Value::Kind;

constexpr size_t kMaxDims = 64;
constexpr int64_t kMaxCharacters = int64_t{1} << 20;
constexpr int kDtypeVersion = 3, kArrayVersion = 1;

template <class... Parts>
void need(bool condition, const Parts&... parts) {
  ARGAND_CHECK(ValueError, condition, parts...);
}

// The bytes of an element of "f4"; 0 if there is no such dtype.
int64_t itemsize_of(std::string_view code) {
  for (const char* known : {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8"})
    if (code == known) return code[1] - '0';
  if (code == "c16") return 16;
  if (code.size() < 2 || (code[0] != 'S' && code[0] != 'U') || code[1] == '0') return 0;
  int64_t count = 0;
  for (const char c : code.substr(1)) {
    if (c < '0' || c > '9' || count > kMaxCharacters) return 0;
    count = 10 * count + (c - '0');
  }
  if (count > kMaxCharacters) return 0;
  return code[0] == 'U' ? 4 * count : count;
}

// Whether elements have an order of bytes.
bool has_order(std::string_view code) { return code[0] != 'S' && itemsize_of(code) > 1; }

int64_t bytes_of(const Value& dtype, const Value& shape) {
  CheckedSize bytes(numpy_itemsize(dtype), "load");
  bool empty = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t n = shape[i].to_int();
    need(n >= 0, "a numpy.ndarray of a size of ", n);
    bytes.mul(std::max<int64_t>(n, 1));
    empty |= n == 0;
  }
  return empty ? 0 : bytes.value();
}

Value no_bytes() { return Value::with_text(Kind::kBytes, ""); }

Value dtype_of_code(const Value& code) {
  need(code.is_string() && itemsize_of(code.text()) > 0, "a numpy.dtype that is no bool, number or text: ",
       code.is_string() ? code.text() : Value::kind_name(code.kind()));
  return Value::with_items(Kind::kNumpyDtype, {(has_order(code.text()) ? "<" : "|") + code.text()});
}

void set_dtype_state(Value& dtype, const Value& state) {
  need(state.size() == 8 && state[0].to_int() == kDtypeVersion && state[1].is_string(),
       "numpy.dtype: a state of another version than ", kDtypeVersion);
  for (size_t i = 2; i < 5; ++i) need(state[i].is_none(), "a numpy.dtype of records");
  for (size_t i = 5; i < 8; ++i) (void)state[i].to_int();
  const int64_t size = state[5].to_int();
  need(size == -1 || size == numpy_itemsize(dtype), "numpy.dtype: elements of ", size, " bytes");
  const std::string &order = state[1].text(), code = dtype[0].text().substr(1);
  need(has_order(code) ? order == "<" || order == ">" : order == "|", "numpy.dtype: the order of bytes ", order, " of ",
       code);
  dtype.assign({order + code});
}

void set_array_state(Value& array, const Value& state) {
  need(state.size() == 5 && state[0].to_int() == kArrayVersion, "numpy.ndarray: a state of another version than ",
       kArrayVersion);
  const Value made = numpy_array(state[2], state[1], state[3].to_bool(), state[4]);
  array.assign({made[0], made[1], made[2], made[3]});
}

}  // namespace

bool is_numpy_name(const std::string& full) {
  // numpy.core is where NumPy 1 had it.
  static constexpr const char* names[] = {"numpy.dtype",
                                          "numpy.ndarray",
                                          "numpy._core.multiarray._reconstruct",
                                          "numpy.core.multiarray._reconstruct",
                                          "numpy._core.multiarray.scalar",
                                          "numpy.core.multiarray.scalar"};
  return std::find(std::begin(names), std::end(names), full) != std::end(names);
}

std::optional<Value> call_numpy(const std::string& name, const Value& a) {
  if (!is_numpy_name(name)) return std::nullopt;
  if (name == "numpy.dtype") {
    need(a.size() == 3, name, " with ", a.size(), " arguments");
    return dtype_of_code(a[0]);
  }
  if (name.ends_with("._reconstruct")) {
    need(a.size() == 3 && a[0].kind() == Kind::kGlobal && a[0].text() == "numpy.ndarray" &&
             a[1].kind() == Kind::kTuple && a[1].size() == 1 && a[1][0].is_int() && a[1][0].to_int() == 0,
         name, " of what is no numpy.ndarray");
    return numpy_array(numpy_dtype("|i1"), a[1], false, no_bytes());
  }
  need(name.ends_with(".scalar"), "a call of ", name);
  need(a.size() == 2 && a[0].kind() == Kind::kNumpyDtype && a[1].kind() == Kind::kBytes, name,
       " of no dtype and bytes");
  need(static_cast<int64_t>(a[1].text().size()) == numpy_itemsize(a[0]), name, " of ", a[1].text().size(), " bytes");
  return Value::with_items(Kind::kNumpyScalar, {a[0], a[1]});
}

void set_numpy_state(Value& object, const Value& state) {
  need(state.kind() == Kind::kTuple, "a state that is a ", Value::kind_name(state.kind()));
  if (object.kind() == Kind::kNumpyDtype)
    set_dtype_state(object, state);
  else
    set_array_state(object, state);
}

PickleForms::Form numpy_form(const Value& v) {
  static constexpr const char* module = "numpy._core.multiarray";
  if (v.kind() == Kind::kNumpyScalar) return {module, "scalar", Value::tuple({v[0], v[1]})};
  if (v.kind() == Kind::kNdarray)
    return {module, "_reconstruct",
            Value::tuple({Value::with_text(Kind::kGlobal, "numpy.ndarray"), Value::tuple({0}),
                          Value::with_text(Kind::kBytes, "b")}),
            false, Value::tuple({kArrayVersion, v[1], v[0], v[2], v[3]})};
  const std::string order = v[0].text().substr(0, 1), code = v[0].text().substr(1);
  int64_t size = -1, alignment = -1, flags = 0;
  if (code[0] == 'S' || code[0] == 'U') {
    size = itemsize_of(code);
    alignment = code[0] == 'S' ? 1 : 4;
    flags = code[0] == 'S' ? 0 : 8;
  }
  return {"numpy", "dtype", Value::tuple({code, false, true}), false,
          Value::tuple({kDtypeVersion, order, {}, {}, {}, size, alignment, flags})};
}

Value numpy_dtype(std::string text) {
  const std::string_view code = std::string_view(text).substr(std::min<size_t>(text.size(), 1));
  need(itemsize_of(code) > 0 && (has_order(code) ? text[0] == '<' || text[0] == '>' : text[0] == '|'),
       "a numpy.dtype that is no bool, number or text: ", text);
  return Value::with_items(Kind::kNumpyDtype, {std::move(text)});
}

int64_t numpy_itemsize(const Value& dtype) {
  need(dtype.kind() == Kind::kNumpyDtype, "a ", Value::kind_name(dtype.kind()), " where a numpy.dtype must be");
  return itemsize_of(std::string_view(dtype[0].text()).substr(1));
}

Value numpy_array(Value dtype, Value shape, bool first_index_fastest, Value bytes) {
  need(shape.kind() == Kind::kTuple && shape.size() <= kMaxDims, "numpy.ndarray: a shape that is a ",
       Value::kind_name(shape.kind()), " of ", shape.size());
  need(bytes.kind() == Kind::kBytes, "numpy.ndarray: elements that are a ", Value::kind_name(bytes.kind()));
  const int64_t expected = bytes_of(dtype, shape);
  need(static_cast<int64_t>(bytes.text().size()) == expected, "numpy.ndarray: expected ", expected, " bytes, got ",
       bytes.text().size());
  return Value::with_items(Kind::kNdarray, {std::move(dtype), std::move(shape), first_index_fastest, std::move(bytes)});
}

}  // namespace argand::io
