#include "argand/io/torch_names.h"

#include <algorithm>
#include <array>
#include <limits>

#include "argand/base/checked.h"
#include "argand/exec/invoke.h"
#include "argand/io/numpy_names.h"
#include "argand/io/utf8.h"
#include "argand/ops/functions.h"

namespace argand::io {

namespace {

using Kind = Value::Kind;
constexpr size_t kMaxDims = 64;

struct StorageName {
  const char* name;
  ScalarType dtype;
};
constexpr StorageName kStorages[] = {{"FloatStorage", kFloat},
                                     {"DoubleStorage", kDouble},
                                     {"HalfStorage", kHalf},
                                     {"BFloat16Storage", kBFloat16},
                                     {"LongStorage", kLong},
                                     {"IntStorage", kInt},
                                     {"ShortStorage", kShort},
                                     {"CharStorage", kChar},
                                     {"ByteStorage", kByte},
                                     {"BoolStorage", kBool},
                                     {"ComplexFloatStorage", kComplexFloat},
                                     {"ComplexDoubleStorage", kComplexDouble}};

// Everything else that a pickle may name; those of Python 2 by their names in Python 3.
constexpr const char* kNames[] = {"builtins.bytearray",
                                  "builtins.bytes",
                                  "builtins.complex",
                                  "builtins.dict",
                                  "builtins.float",
                                  "builtins.frozenset",
                                  "builtins.int",
                                  "builtins.list",
                                  "builtins.range",
                                  "builtins.set",
                                  "builtins.slice",
                                  "builtins.str",
                                  "builtins.tuple",
                                  "builtins.bool",
                                  "_codecs.encode",
                                  "collections.Counter",
                                  "collections.OrderedDict",
                                  "collections.defaultdict",
                                  "torch.Size",
                                  "torch.Tensor",
                                  "torch.device",
                                  "torch.UntypedStorage",
                                  "torch.storage.UntypedStorage",
                                  "torch.nn.parameter.Parameter",
                                  "torch.nn.parameter.Buffer",
                                  "torch.serialization._get_layout",
                                  "torch._tensor._rebuild_from_type_v2",
                                  "torch._utils._rebuild_meta_tensor_no_storage",
                                  "torch._utils._rebuild_parameter",
                                  "torch._utils._rebuild_parameter_with_state",
                                  "torch._utils._rebuild_tensor",
                                  "torch._utils._rebuild_tensor_v2",
                                  "torch._utils._rebuild_tensor_v3"};
constexpr const char* kScriptNames[] = {"torch.jit._pickle.build_boollist", "torch.jit._pickle.build_doublelist",
                                        "torch.jit._pickle.build_intlist", "torch.jit._pickle.build_tensorlist",
                                        "torch.jit._pickle.restore_type_tag"};
constexpr std::string_view kScriptClasses = "__torch__.";

template <size_t N>
bool is_one_of(const char* const (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

template <class... Parts>
void need(bool condition, const Parts&... parts) {
  ARGAND_CHECK(ValueError, condition, parts...);
}

const std::string& text_of(const Value& v) {
  need(v.is_string(), "a ", Value::kind_name(v.kind()), " where a text must be");
  return v.text();
}

void need_count(const std::string& name, const Value& arguments, size_t least, size_t most) {
  need(arguments.size() >= least && arguments.size() <= most, name, " with ", arguments.size(), " arguments");
}

Dims numbers(const char* what, const Value& v) {
  need(v.kind() == Kind::kTuple || v.kind() == Kind::kSize || v.kind() == Kind::kList, what, " of a tensor are a ",
       Value::kind_name(v.kind()));
  need(v.size() <= kMaxDims, "a tensor of ", v.size(), " dimensions");
  Dims out;
  for (size_t i = 0; i < v.size(); ++i) {
    const int64_t n = v[i].to_int();
    need(n >= 0, what, " of a tensor hold ", n);
    out.push_back(n);
  }
  return out;
}

// Checks that every address lies in the storage, and that no product of sizes overflows 64 bits, even beside a size of
// 0.
void check_layout(const Dims& sizes, const Dims& strides, int64_t offset, int64_t itemsize, int64_t capacity) {
  need(sizes.size() == strides.size(), sizes.size(), " sizes and ", strides.size(), " strides");
  CheckedSize bytes(itemsize, "load"), last(offset, "load");
  bool empty = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    bytes.mul(std::max<int64_t>(sizes[i], 1));
    empty |= sizes[i] == 0;
  }
  for (size_t i = 0; i < sizes.size() && !empty; ++i)
    last.add(CheckedSize(sizes[i] - 1, "load").mul(strides[i]).value());
  need(offset >= 0 && (empty ? offset <= capacity : last.value() < capacity), "a tensor of sizes ", IntArrayRef(sizes),
       ", strides ", IntArrayRef(strides), " and offset ", offset, " leaves its storage of ", capacity, " elements");
}

void require_grad(const Tensor& t, const Value& flag) {
  if (!flag.to_bool()) return;
  need(is_differentiable(t.dtype()), "a tensor of dtype ", t.dtype(), " that requires grad");
  t.set_requires_grad(true);
}

std::string latin1(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<uint8_t>(text[i]);
    if (c < 0x80) {
      out += text[i];
      continue;
    }
    need((c == 0xC2 || c == 0xC3) && i + 1 < text.size(), "_codecs.encode: a character that is not in latin1");
    out += static_cast<char>(static_cast<uint8_t>(c << 6 | (static_cast<uint8_t>(text[++i]) & 0x3F)));
  }
  return out;
}

std::string utf8_of_latin1(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) append_utf8(out, static_cast<uint8_t>(c));
  return out;
}

std::vector<Value> elements(const std::string& name, const Value& v) {
  std::vector<Value> out;
  if (v.kind() == Value::Kind::kRange) {  // its items are start, stop and step
    constexpr int64_t kMost = 1 << 16;    // three numbers of a file may not ask for more memory than this
    const int64_t stop = v[1].to_int(), step = v[2].to_int();
    for (int64_t i = v[0].to_int(); step > 0 ? i < stop : i > stop;) {
      need(out.size() < kMost, name, " of a range of more than ", kMost, " numbers");
      out.emplace_back(i);
      if (__builtin_add_overflow(i, step, &i)) break;
    }
    return out;
  }
  need(v.is_sequence(), name, " of a ", Value::kind_name(v.kind()));
  for (size_t i = 0; i < v.size(); ++i) out.push_back(v[i]);
  return out;
}

Value dict_of(const std::string& name, Kind kind, const Value& arguments, size_t first) {
  Value out = Value::with_items(kind);
  if (arguments.size() == first) return out;
  const Value& items = arguments[first];
  if (items.is_dict()) {
    for (size_t i = 0; i < items.size(); ++i) out.set(items.key(i), items.value(i));
    return out;
  }
  // Pairs, as Python 2 wrote OrderedDicts.
  need(items.kind() == Kind::kList, name, " of a ", Value::kind_name(items.kind()));
  for (size_t i = 0; i < items.size(); ++i) {
    need((items[i].kind() == Kind::kList || items[i].kind() == Kind::kTuple) && items[i].size() == 2, name,
         " of what are no pairs");
    out.set(items[i][0], items[i][1]);
  }
  return out;
}

Value bytes_of(const std::string& name, Kind kind, const Value& arguments) {
  need_count(name, arguments, 0, 2);
  if (arguments.size() == 0) return Value::with_text(kind, "");
  const Value& content = arguments[0];
  if (arguments.size() == 2) {
    need(content.is_string() && arguments[1].is_string() && arguments[1].text() == "latin-1", name,
         " of an unknown encoding");
    return Value::with_text(kind, latin1(content.text()));
  }
  need(content.kind() == Kind::kBytes, name, " of a ", Value::kind_name(content.kind()));
  return Value::with_text(kind, content.text());
}

// The plain types of Python.
std::optional<Value> call_builtin(const std::string& name, const Value& a) {
  if (name == "builtins.bytearray") return bytes_of(name, Kind::kByteArray, a);
  if (name == "builtins.bytes") return bytes_of(name, Kind::kBytes, a);
  if (name == "_codecs.encode") {
    need_count(name, a, 2, 2);
    need(text_of(a[1]) == "latin1", name, " of an unknown encoding");
    return Value::with_text(Kind::kBytes, latin1(text_of(a[0])));
  }
  if (name == "builtins.complex") {
    need_count(name, a, 2, 2);
    return Value(std::complex<double>(a[0].to_double(), a[1].to_double()));
  }
  if (name == "builtins.set" || name == "builtins.frozenset") {
    need_count(name, a, 0, 1);
    return Value::with_items(name == "builtins.set" ? Kind::kSet : Kind::kFrozenSet,
                             a.size() == 0 ? std::vector<Value>() : elements(name, a[0]));
  }
  if (name == "builtins.slice" || name == "builtins.range") {
    need_count(name, a, 3, 3);
    const bool range = name == "builtins.range";
    for (size_t i = 0; i < 3; ++i)
      need(a[i].is_int() || (!range && a[i].is_none()), name, " of a ", Value::kind_name(a[i].kind()));
    need(!range || a[2].to_int() != 0, "a range without a step");
    return Value::with_items(range ? Kind::kRange : Kind::kSlice, {a[0], a[1], a[2]});
  }
  if (name == "builtins.dict" || name == "collections.OrderedDict" || name == "collections.Counter") {
    need_count(name, a, 0, 1);
    return dict_of(name,
                   name == "builtins.dict"         ? Kind::kDict
                   : name == "collections.Counter" ? Kind::kCounter
                                                   : Kind::kOrderedDict,
                   a, 0);
  }
  if (name == "collections.defaultdict") {
    need_count(name, a, 0, 1);
    if (a.size() == 0 || a[0].is_none()) return Value::with_text(Kind::kDefaultDict, "");
    static constexpr std::string_view kBuiltins = "builtins.";
    const std::string& factory = a[0].text();
    need(a[0].kind() == Kind::kGlobal && factory.compare(0, kBuiltins.size(), kBuiltins) == 0,
         "a defaultdict whose values are made by ", factory);
    return Value::with_text(Kind::kDefaultDict, factory.substr(kBuiltins.size()));
  }
  return std::nullopt;
}

}  // namespace

Value TorchNames::global(const std::string& module, const std::string& name) {
  std::string full = (module == "__builtin__" ? "builtins" : module) + "." + name;
  if (full == "builtins.long") full = "builtins.int";
  if (full == "builtins.xrange") full = "builtins.range";
  if (module == "torch") {
#define ARGAND_NAME(T, Name) \
  if (name == dtype_name(ScalarType::Name)) return ScalarType::Name;
    ARGAND_FORALL_DTYPES(ARGAND_NAME)
#undef ARGAND_NAME
  }
  const bool storage = module == "torch" && std::any_of(std::begin(kStorages), std::end(kStorages),
                                                        [&](const StorageName& s) { return name == s.name; });
  const bool known =
      storage || is_one_of(kNames, full) || is_numpy_name(full) ||
      (objects_ && (is_one_of(kScriptNames, full) || full.compare(0, kScriptClasses.size(), kScriptClasses) == 0));
  need(known, "the global ", full,
       " is refused: only tensors, arrays, containers and plain values are read, never code");
  return Value::with_text(Kind::kGlobal, std::move(full));
}

Value TorchNames::persistent(const Value& id) {
  need(
      id.kind() == Kind::kTuple && (id.size() == 5 || id.size() == 6) && id[0].is_string() && id[0].text() == "storage",
      "a persistent id that is no storage");
  need(id.size() == 5 || id[5].is_none(), "a storage that is a part of another");
  need(id[1].kind() == Kind::kGlobal, "a storage of no type");
  const std::string& type = id[1].text();
  StorageRequest request{.key = text_of(id[2]), .location = text_of(id[3]), .numel = id[4].to_int()};
  request.untyped = type == "torch.UntypedStorage" || type == "torch.storage.UntypedStorage";
  bool found = request.untyped;
  for (const StorageName& s : kStorages)
    if (type.compare(0, 6, "torch.") == 0 && std::string_view(type).substr(6) == s.name)
      request.dtype = s.dtype, found = true;
  need(found, "a storage of the type ", type);
  need(request.numel >= 0, "a storage of ", request.numel, " elements");
  CheckedSize(request.numel, "load").mul(element_size(request.dtype));
  const auto it = known_.find(request.key);
  if (it != known_.end()) {
    const StorageRequest& before = it->second.request;
    need(before.dtype == request.dtype && before.untyped == request.untyped && before.numel == request.numel &&
             before.location == request.location,
         "storage ", request.key, " is named twice, with different types, sizes or places");
    return it->second.storage;
  }
  Value storage = Value::storage(storages_(request));
  known_.emplace(request.key, Known{request, storage});
  return storage;
}

// _rebuild_tensor(storage, offset, sizes, strides): arguments that all versions begin with.
Value TorchNames::tensor(const Value& a, size_t at_least, std::optional<ScalarType> dtype) {
  need(a.size() >= at_least, "a tensor with ", a.size(), " arguments");
  need(left_-- > 0, "too many tensors");
  need(a[0].kind() == Kind::kStorage, "a tensor over a ", Value::kind_name(a[0].kind()));
  const Tensor& storage = a[0].tensor();
  const ScalarType type = dtype.value_or(storage.dtype());
  const Dims sizes = numbers("sizes", a[2]), strides = numbers("strides", a[3]);
  const int64_t offset = a[1].to_int(), capacity = storage.numel() * storage.itemsize() / element_size(type);
  check_layout(sizes, strides, offset, element_size(type), capacity);
  return exec::alias(storage, sizes, strides, offset, type);
}

Value TorchNames::with_state(Value tensor, const Value& state) const {
  if (state.is_none() || (state.is_dict() && state.size() == 0)) return tensor;
  need(state.kind() == Kind::kDict, "the state of a tensor is a ", Value::kind_name(state.kind()));
  tensor.set_attributes(state);
  return tensor;
}

// Conjugates and negatives are computed while the file is read: of many tensors over one storage each has its own
// memory, and elements that a stride of 0 repeats are made.
size_t TorchNames::cost(const Value& global, const Value& a) {
  const std::string& name = global.text();
  if (name == "torch._tensor._rebuild_from_type_v2" && a.size() == 4 && a[0].kind() == Kind::kGlobal &&
      a[0].text() != name && a[2].kind() == Kind::kTuple)
    return cost(a[0], a[2]);
  const bool v3 = name == "torch._utils._rebuild_tensor_v3";
  if ((!v3 && name != "torch._utils._rebuild_tensor_v2") || a.size() != (v3 ? 8U : 7U) || !a[a.size() - 1].is_dict())
    return 0;
  constexpr size_t kLargestElement = 16;
  const Value& marks = a[a.size() - 1];
  size_t bytes = 0;
  for (size_t i = 0; i < marks.size(); ++i)
    if (marks.value(i).kind() == Kind::kBool && marks.value(i).to_bool()) bytes += kLargestElement;
  if (bytes == 0) return 0;
  for (size_t i = 0; i < a[2].size() && a[2].is_sequence(); ++i)
    if (!a[2][i].is_int() || __builtin_mul_overflow(bytes, a[2][i].to_int(), &bytes))
      return std::numeric_limits<size_t>::max();
  return bytes;
}

Value TorchNames::call(const Value& global, const Value& a) {
  const std::string& name = global.text();
  if (std::optional<Value> out = call_builtin(name, a)) return *out;
  if (std::optional<Value> out = call_numpy(name, a)) return *out;
  if (name == "torch._utils._rebuild_tensor") {
    need_count(name, a, 4, 4);
    return tensor(a, 4, {});
  }
  if (name == "torch._utils._rebuild_tensor_v2" || name == "torch._utils._rebuild_tensor_v3") {
    const bool v3 = name.back() == '3';
    need_count(name, a, v3 ? 7 : 6, v3 ? 8 : 7);
    Value out = tensor(a, 6, v3 ? std::optional(a[6].dtype()) : std::nullopt);
    if (a.size() == (v3 ? 8U : 7U) && !a[a.size() - 1].is_none()) {
      const Value& bits = a[a.size() - 1];
      need(bits.is_dict(), name, ": marks that are a ", Value::kind_name(bits.kind()));
      for (size_t i = 0; i < bits.size(); ++i) {
        const std::string& mark = text_of(bits.key(i));
        need(mark == "conj" || (mark == "neg" && out.tensor().dtype() != kBool), name, ": the mark ", mark);
        if (bits.value(i).to_bool()) out = mark == "conj" ? out.tensor().conj() : out.tensor().neg();
      }
    }
    require_grad(out.tensor(), a[4]);
    return out;
  }
  if (name == "torch._utils._rebuild_parameter" || name == "torch._utils._rebuild_parameter_with_state") {
    const bool state = name != "torch._utils._rebuild_parameter";
    need_count(name, a, state ? 4 : 3, state ? 4 : 3);
    need(a[0].is_tensor(), "a parameter that is a ", Value::kind_name(a[0].kind()));
    const Tensor t = exec::alias(a[0].tensor());
    require_grad(t, a[1]);
    return with_state(Value::parameter(t), state ? a[3] : Value());
  }
  if (name == "torch._tensor._rebuild_from_type_v2") {
    need_count(name, a, 4, 4);
    need(a[0].kind() == Kind::kGlobal && a[0].text() != name && a[1].kind() == Kind::kGlobal &&
             a[2].kind() == Kind::kTuple,
         name, " of no tensor");
    const Value out = call(a[0], a[2]);
    need(out.is_tensor(), name, " of a ", Value::kind_name(out.kind()));
    const std::string& type = a[1].text();
    need(type == "torch.Tensor" || type == "torch.nn.parameter.Parameter" || type == "torch.nn.parameter.Buffer", name,
         " of the type ", type);
    return with_state(type == "torch.nn.parameter.Parameter" ? Value::parameter(out.tensor()) : out, a[3]);
  }
  if (name == "torch._utils._rebuild_meta_tensor_no_storage") {
    need_count(name, a, 4, 4);
    need(left_-- > 0, "too many tensors");
    const Dims sizes = numbers("sizes", a[1]), strides = numbers("strides", a[2]);
    check_layout(sizes, strides, 0, element_size(a[0].dtype()), std::numeric_limits<int64_t>::max());
    const Tensor t = exec::new_tensor({sizes, a[0].dtype(), strides}, kMeta);
    require_grad(t, a[3]);
    return t;
  }
  if (name == "torch.Size") {
    need_count(name, a, 0, 1);
    std::vector<Value> items = a.size() == 0 ? std::vector<Value>() : elements(name, a[0]);
    for (const Value& item : items) (void)item.to_int();
    return Value::with_items(Kind::kSize, std::move(items));
  }
  if (name == "torch.device") {
    need_count(name, a, 1, 2);
    return Device(a.size() == 1 ? text_of(a[0]) : str(text_of(a[0]), ":", a[1].to_int()));
  }
  if (name == "torch.serialization._get_layout") {
    need_count(name, a, 1, 1);
    need(text_of(a[0]) == "torch.strided", "the layout ", a[0].text());
    return Value::with_text(Kind::kLayout, a[0].text());
  }
  if (objects_ && is_one_of(kScriptNames, name)) {
    const bool tagged = name == "torch.jit._pickle.restore_type_tag";
    need_count(name, a, tagged ? 2 : 1, tagged ? 2 : 1);
    return a[0];
  }
  ARGAND_THROW(ValueError, "a call of ", name);
}

Value TorchNames::create(const Value& global, const Value& arguments) {
  const std::string& name = global.text();
  // Python writes an OrderedDict and similar types in either way.
  if (name.compare(0, kScriptClasses.size(), kScriptClasses) != 0) {
    std::optional<Value> out = call_builtin(name, arguments);
    need(out.has_value(), "an object of ", name);
    return *out;
  }
  need_count(name, arguments, 0, 0);
  return Value::with_text(Kind::kObject, name);
}

void TorchNames::set_state(Value& object, const Value& state) {
  if (object.kind() == Kind::kNumpyDtype || object.kind() == Kind::kNdarray) return set_numpy_state(object, state);
  need(state.is_dict(), "a state that is a ", Value::kind_name(state.kind()));
  if (object.kind() == Kind::kObject) {
    for (size_t i = 0; i < state.size(); ++i) {
      need(state.key(i).is_string(), "an attribute whose name is a ", Value::kind_name(state.key(i).kind()));
      object.set(state.key(i), state.value(i));
    }
    return;
  }
  // The others have no attributes in Python.
  need(object.kind() == Kind::kOrderedDict || object.kind() == Kind::kCounter, "a state is given to a ",
       Value::kind_name(object.kind()));
  for (size_t i = 0; i < state.size(); ++i)
    need(state.key(i).is_string(), "an attribute whose name is a ", Value::kind_name(state.key(i).kind()));
  object.set_attributes(state);
}

// ---- writing

namespace {

Value named(const char* name) { return Value::with_text(Kind::kGlobal, name); }

}  // namespace

Value TorchForms::id_of(const Tensor& t) {
  size_t index = known_.emplace(t.storage().get(), storages_.size()).first->second;
  if (index < storages_.size() && storages_[index].dtype() != t.dtype() && t.storage()->nbytes() == 0)
    index = storages_.size();  // nothing is shared
  if (index == storages_.size()) storages_.push_back(t.detach());
  const Tensor& first = storages_[index];
  need(first.dtype() == t.dtype(),
       "save: Cannot save multiple tensors or storages that view the same data as different types: ", first.dtype(),
       " and ", t.dtype(), " share memory, which the format cannot say");
  const char* type = nullptr;
  for (const StorageName& s : kStorages)
    if (s.dtype == t.dtype()) type = s.name;
  const auto nbytes = static_cast<int64_t>(t.storage()->nbytes());
  return Value::tuple(
      {"storage", named(str("torch.", type).c_str()), std::to_string(index), t.device().str(), nbytes / t.itemsize()});
}

PickleForms::Form TorchForms::tensor_form(const Tensor& t) {
  need(t.defined(), "save: an undefined tensor cannot be saved");
  const auto dims = [](IntArrayRef values) {
    std::vector<Value> out;
    for (const int64_t v : values) out.emplace_back(v);
    return Value::tuple(std::move(out));
  };
  if (t.is_meta())
    return {"torch._utils", "_rebuild_meta_tensor_no_storage",
            Value::tuple({t.dtype(), dims(t.sizes()), dims(t.strides()), t.requires_grad()})};
  // A storage reference inside of the arguments: a tuple of its own kind, which form_of() turns into a persistent id.
  return {"torch._utils", "_rebuild_tensor_v2",
          Value::tuple({Value::storage(t), t.storage_offset(), dims(t.sizes()), dims(t.strides()), t.requires_grad(),
                        Value::with_items(Kind::kOrderedDict)})};
}

bool TorchForms::form_of(const Value& v, Form& form) {
  const auto call = [&](const char* module, const char* name, std::vector<Value> arguments, bool items_follow = false) {
    form = {module, name, Value::tuple(std::move(arguments)), items_follow};
    return true;
  };
  const auto list_of = [](const Value& from, Kind kind) {
    std::vector<Value> out;
    for (size_t i = 0; i < from.size(); ++i) out.push_back(from[i]);
    return Value::with_items(kind, std::move(out));
  };
  switch (v.kind()) {
    case Kind::kGlobal: {
      const size_t dot = v.text().rfind('.');
      form = {v.text().substr(0, dot), v.text().substr(dot + 1), Value()};
      if (form.module == "builtins") form.module = "__builtin__";
      return true;
    }
    case Kind::kComplex:
      return call("__builtin__", "complex", {v.to_complex().real(), v.to_complex().imag()});
    case Kind::kBytes:
      return call("_codecs", "encode", {utf8_of_latin1(v.text()), "latin1"});
    case Kind::kByteArray:
      return call("__builtin__", "bytearray", {Value::with_text(Kind::kBytes, v.text())});
    case Kind::kSize:
      return call("torch", "Size", {list_of(v, Kind::kTuple)});
    case Kind::kSlice:
      return call("__builtin__", "slice", {v[0], v[1], v[2]});
    case Kind::kRange:
      return call("__builtin__", "xrange", {v[0], v[1], v[2]});
    case Kind::kSet:
      return call("__builtin__", "set", {list_of(v, Kind::kList)});
    case Kind::kFrozenSet:
      return call("__builtin__", "frozenset", {list_of(v, Kind::kList)});
    case Kind::kOrderedDict:
      return call("collections", "OrderedDict", {}, true);
    case Kind::kCounter: {
      Value items = Value::dict();
      for (size_t i = 0; i < v.size(); ++i) items.set(v.key(i), v.value(i));
      return call("collections", "Counter", {items});
    }
    case Kind::kDefaultDict:
      if (v.text().empty()) return call("collections", "defaultdict", {}, true);
      return call("collections", "defaultdict", {named(("builtins." + v.text()).c_str())}, true);
    case Kind::kDtype:
      form = {"torch", dtype_name(v.dtype()), Value()};
      return true;
    case Kind::kDevice: {
      const Device d = v.device();
      if (!d.has_index()) return call("torch", "device", {device_type_name(d.type())});
      return call("torch", "device", {device_type_name(d.type()), int64_t{d.index()}});
    }
    case Kind::kLayout:
      return call("torch.serialization", "_get_layout", {v.text()});
    case Kind::kNumpyDtype:
    case Kind::kNdarray:
    case Kind::kNumpyScalar:
      form = numpy_form(v);
      return true;
    case Kind::kStorage:
      form = {"", "", id_of(v.tensor())};
      return true;
    case Kind::kTensor:
    case Kind::kParameter: {
      form = tensor_form(v.tensor());
      const Value& attributes = v.attributes();
      const Value hooks = Value::with_items(Kind::kOrderedDict);
      const Tensor& t = v.tensor();
      if (v.kind() == Kind::kParameter) {
        if (attributes.is_none())
          return call("torch._utils", "_rebuild_parameter", {t.detach(), t.requires_grad(), hooks});
        return call("torch._utils", "_rebuild_parameter_with_state",
                    {t.detach(), t.requires_grad(), hooks, attributes});
      }
      if (attributes.is_none()) return true;
      return call("torch._tensor", "_rebuild_from_type_v2",
                  {named((form.module + "." + form.name).c_str()), named("torch.Tensor"), form.arguments, attributes});
    }
    default:
      return false;
  }
}

}  // namespace argand::io
