#include "tests/fuzz/torch_judge.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "tests/fuzz/torch_archive_judge.h"
#include "tests/fuzz/torch_judge_values.h"
#include "tests/fuzz/torch_numpy_judge.h"

namespace argand::fuzz {

namespace {

using namespace torch;

class Judge : Arena {
 public:
  explicit Judge(std::string_view file) : archive_(file) {}

  std::optional<Judgement> run() {
    try {
      must(archive_.good);
      bytes_ = archive_.pickle;
      V* const root = machine();
      visit(root);
      Judgement out;
      out.computed = computed_;
      write(root, out.tree);
      return out;
    } catch (const Large&) {
      return Judgement{.tree = {}, .large = true};
    } catch (const Refused&) {
      return std::nullopt;
    }
  }

 private:
  // ---- the machine

  std::string_view take(uint64_t n) {
    must(n <= bytes_.size() - at_);
    at_ += n;
    return bytes_.substr(at_ - n, n);
  }
  uint64_t number(unsigned n) {
    uint64_t out = 0;
    unsigned shift = 0;
    for (const char c : take(n)) out |= uint64_t{static_cast<uint8_t>(c)} << shift, shift += 8;
    return out;
  }
  std::string line() {
    const size_t end = bytes_.find('\n', at_);
    must(end != bytes_.npos && end - at_ < 65536);
    const std::string out(take(end - at_));
    take(1);
    must(is_utf8(out));
    return out;
  }
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  V* top() {
    must(stack_.size() > floor());
    return stack_.back();
  }
  V* pop() {
    V* v = top();
    stack_.pop_back();
    return v;
  }
  std::vector<V*> pop_mark() {
    must(!marks_.empty());
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<V*> out(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return out;
  }
  void push(V* v) { stack_.push_back(v); }
  void push_tuple(size_t n) {
    std::vector<V*> items(n);
    while (n > 0) items[--n] = pop();
    push(of_items(kTuple, items));
  }
  void extend(const std::vector<V*>& items) {
    V* list = top();
    must(list->kind == kList);
    list->items.insert(list->items.end(), items.begin(), items.end());
  }
  void update(const std::vector<V*>& items) {
    V* dict = top();
    must(is_dict(dict) && dict->kind != kObject && items.size() % 2 == 0);
    for (size_t i = 0; i < items.size(); i += 2) set(dict, items[i], items[i + 1]);
  }

  V* machine() {
    for (uint64_t step = 1;; ++step) {
      must(step <= uint64_t{1} << 25);
      const auto op = static_cast<uint8_t>(take(1)[0]);
      if (op == '.') break;
      switch (op) {
        case 0x80:
          must(number(1) == 2 && at_ == 2);
          break;
        case '(':
          must(marks_.size() < 512);
          marks_.push_back(stack_.size());
          break;
        case 'N':
          push(make(kNone));
          break;
        case 0x88:
          push(of_int(1, kBool));
          break;
        case 0x89:
          push(of_int(0, kBool));
          break;
        case 'K':
          push(of_int(static_cast<int64_t>(number(1))));
          break;
        case 'M':
          push(of_int(static_cast<int64_t>(number(2))));
          break;
        case 'J':
          push(of_int(static_cast<int32_t>(static_cast<uint32_t>(number(4)))));
          break;
        case 0x8a: {
          std::string digits(take(number(1)));
          if (digits.empty()) digits.push_back('\0');
          const char sign = digits.back() < 0 ? '\xff' : '\0';
          while (digits.size() > 8 && digits.back() == sign && (digits[digits.size() - 2] < 0) == (sign != 0))
            digits.pop_back();
          if (digits.size() > 8) {
            push(of_text(kBig, decimal(digits)));
          } else {
            digits.resize(8, sign);
            int64_t value = 0;
            std::memcpy(&value, digits.data(), 8);
            push(of_int(value));
          }
          break;
        }
        case 'G': {
          std::string bits(take(8));
          std::reverse(bits.begin(), bits.end());
          V* v = make(kFloat);
          std::memcpy(&v->d, bits.data(), 8);
          push(v);
          break;
        }
        case 'X':
        case 'T':
        case 'U': {
          const std::string_view content = take(number(op == 'U' ? 1 : 4));
          must(op != 'X' || is_utf8(content));
          push(of_text(is_utf8(content) ? kText : kBytes, content));
          break;
        }
        case ']':
          push(make(kList));
          break;
        case '}':
          push(make(kDict));
          break;
        case ')':
          push(make(kTuple));
          break;
        case 0x85:
        case 0x86:
        case 0x87:
          push_tuple(op - 0x84);
          break;
        case 't':
          push(of_items(kTuple, pop_mark()));
          break;
        case 'a': {
          V* item = pop();
          extend({item});
          break;
        }
        case 'e':
          extend(pop_mark());
          break;
        case 's': {
          V* value = pop();
          V* key = pop();
          update({key, value});
          break;
        }
        case 'u':
          update(pop_mark());
          break;
        case 'q':
        case 'r': {
          const uint64_t index = number(op == 'q' ? 1 : 4);
          must(index < 1U << 20 && index <= step);  // entries are numbered as they come
          memo_[index] = top();
          break;
        }
        case 'h':
        case 'j': {
          const auto it = memo_.find(number(op == 'h' ? 1 : 4));
          must(it != memo_.end());
          push(it->second);
          break;
        }
        case 'c': {
          const std::string module = line(), name = line();
          push(global(module, name));
          break;
        }
        case 'R':
        case 0x81: {
          V* arguments = pop();
          V* callee = pop();
          must(callee->kind == kName && arguments->kind == kTuple);
          push(op == 'R' ? call(callee->text, arguments->items) : create(callee->text, arguments->items));
          break;
        }
        case 'b': {
          V* state = pop();
          build(top(), state);
          break;
        }
        case 'Q':
          push(persistent(pop()));
          break;
        default:
          throw Refused();
      }
    }
    must(at_ == bytes_.size() && stack_.size() == 1 && marks_.empty());
    return stack_[0];
  }

  // ---- names

  static const Dtype* dtype_of(const V* v) {
    must(v->kind == kDtype);
    return v->dtype;
  }
  static int64_t int_of(const V* v) {
    must(v->kind == kInt);
    return v->i;
  }
  static const std::string& text_of(const V* v) {
    must(v->kind == kText);
    return v->text;
  }
  static double number_of(const V* v) {
    must(v->kind == kInt || v->kind == kFloat);
    return v->kind == kInt ? static_cast<double>(v->i) : v->d;
  }

  V* global(const std::string& module, const std::string& name) {
    static const std::set<std::string> kKnown = {"builtins.bytearray",
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
    static const std::set<std::string> kScript = {
        "torch.jit._pickle.build_boollist", "torch.jit._pickle.build_doublelist", "torch.jit._pickle.build_intlist",
        "torch.jit._pickle.build_tensorlist", "torch.jit._pickle.restore_type_tag"};
    std::string full = (module == "__builtin__" ? "builtins" : module) + "." + name;
    if (full == "builtins.long") full = "builtins.int";
    if (full == "builtins.xrange") full = "builtins.range";
    if (module == "torch")
      for (const Dtype& dtype : kDtypes) {
        if (name == dtype.name) {
          V* v = make(kDtype);
          v->dtype = &dtype;
          return v;
        }
        if (name == dtype.storage) return of_text(kName, full);
      }
    must(kKnown.count(full) || !numpy_name(full).empty() ||
         (archive_.script && (kScript.count(full) || full.rfind("__torch__.", 0) == 0)));
    return of_text(kName, full);
  }

  V* persistent(const V* id) {
    must(id->kind == kTuple && (id->items.size() == 5 || (id->items.size() == 6 && id->items[5]->kind == kNone)));
    must(text_of(id->items[0]) == "storage" && id->items[1]->kind == kName);
    const std::string &type = id->items[1]->text, &key = text_of(id->items[2]), &place = text_of(id->items[3]);
    const int64_t numel = int_of(id->items[4]);
    const Dtype* dtype = nullptr;
    const bool untyped = type == "torch.UntypedStorage" || type == "torch.storage.UntypedStorage";
    if (untyped) dtype = kByte;
    for (const Dtype& d : kDtypes)
      if (type == std::string("torch.") + d.storage) dtype = &d;
    must(dtype != nullptr && numel >= 0);
    const std::string said =
        (untyped ? "untyped" : dtype->name) + std::string(" ") + std::to_string(numel) + " " + place;
    const auto [it, added] = storages_.try_emplace(key);
    if (!added) {
      must(it->second.first == said);
      return it->second.second;
    }
    const auto record = archive_.records.find("data/" + key);
    must(record != archive_.records.end() && static_cast<Wide>(numel) * dtype->bytes == record->second.bytes.size());
    must(record->second.checksum_is_right && !(archive_.big && untyped));
    V* storage = of_text(kStorage, key);
    storage->i = numel;
    storage->dtype = dtype;
    owned_.push_back(std::make_unique<std::string>(record->second.bytes));
    storage->bytes = owned_.back().get();
    if (archive_.big)
      for (size_t i = 0; i < storage->bytes->size(); i += dtype->number)
        std::reverse(storage->bytes->data() + i, storage->bytes->data() + i + dtype->number);
    if (dtype->storage == std::string_view("BoolStorage"))
      for (char& c : *storage->bytes) c = c != 0;
    it->second = {said, storage};
    return storage;
  }

  static std::vector<int64_t> dims(const V* v) {
    must((v->kind == kTuple || v->kind == kSize || v->kind == kList) && v->items.size() <= 64);
    std::vector<int64_t> out;
    for (const V* item : v->items) {
      out.push_back(int_of(item));
      must(out.back() >= 0);
    }
    return out;
  }
  static void check_layout(const V* t, uint64_t capacity) {
    must(t->sizes.size() == t->strides.size() && t->i >= 0);
    Wide product = t->dtype->bytes, last = static_cast<Wide>(t->i);
    bool empty = false;
    for (size_t d = 0; d < t->sizes.size(); ++d) {
      const auto size = static_cast<Wide>(t->sizes[d]);
      empty |= size == 0;
      product *= std::max<Wide>(size, 1);
      must(product <= kMost);
      if (size > 0) last = std::min(last + (size - 1) * static_cast<Wide>(t->strides[d]), static_cast<Wide>(1) << 100);
    }
    must(empty ? static_cast<uint64_t>(t->i) <= capacity : last < capacity);
  }
  static void require_grad(V* tensor, const V* flag) {
    must(flag->kind == kBool && (flag->i == 0 || tensor->dtype->differentiable));
    if (flag->i != 0) tensor->grad = true;
  }
  V* tensor(const std::vector<V*>& a, const Dtype* dtype) {
    must(a[0]->kind == kStorage);
    V* t = make(kTensor);
    t->text = a[0]->text;
    t->bytes = a[0]->bytes;
    t->dtype = dtype ? dtype : a[0]->dtype;
    t->sizes = dims(a[2]);
    t->strides = dims(a[3]);
    t->i = int_of(a[1]);
    check_layout(t, t->bytes->size() / t->dtype->bytes);
    return t;
  }
  V* with_state(V* t, V* state) {
    if (state->kind == kNone || (is_dict(state) && state->items.empty())) return t;
    must(state->kind == kDict);
    t->attributes = state;
    return t;
  }
  V* copy_of(const V* tensor, Kind kind) {
    V* v = make(kind);
    *v = *tensor;
    v->kind = kind;
    v->attributes = nullptr;
    return v;
  }

  static std::string latin1(const std::string& text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<uint8_t>(text[i]);
      must(c < 0xC4);
      out += c < 0x80 ? text[i] : static_cast<char>((c & 3) << 6 | (text[++i] & 0x3F));
    }
    return out;
  }

  V* builtin(const std::string& name, const std::vector<V*>& a) {
    if (name == "builtins.bytearray" || name == "builtins.bytes") {
      const Kind kind = name == "builtins.bytes" ? kBytes : kByteArray;
      must(a.size() <= 2);
      if (a.empty()) return of_text(kind, "");
      if (a.size() == 2) {
        must(text_of(a[1]) == "latin-1");
        return of_text(kind, latin1(text_of(a[0])));
      }
      must(a[0]->kind == kBytes);
      return of_text(kind, a[0]->text);
    }
    if (name == "_codecs.encode") {
      must(a.size() == 2 && text_of(a[1]) == "latin1");
      return of_text(kBytes, latin1(text_of(a[0])));
    }
    if (name == "builtins.complex") {
      must(a.size() == 2);
      V* v = make(kComplex);
      v->d = number_of(a[0]);
      v->e = number_of(a[1]);
      return v;
    }
    if (name == "builtins.set" || name == "builtins.frozenset") {
      must(a.size() <= 1);
      V* v = make(name == "builtins.set" ? kSet : kFrozen);
      if (a.empty()) return v;
      must(is_sequence(a[0]));
      for (V* item : a[0]->items) {
        int left = 256;
        check_key(item, left);
        if (!holds(v, item)) v->items.push_back(item);
      }
      return v;
    }
    if (name == "builtins.slice" || name == "builtins.range") {
      must(a.size() == 3);
      const bool range = name == "builtins.range";
      for (const V* part : a) must(part->kind == kInt || (!range && part->kind == kNone));
      must(!range || a[2]->i != 0);
      return of_items(range ? kRange : kSlice, a);
    }
    if (name == "builtins.dict" || name == "collections.OrderedDict" || name == "collections.Counter") {
      must(a.size() <= 1);
      V* v = make(name == "builtins.dict" ? kDict : name == "collections.Counter" ? kCounter : kOrdered);
      if (a.empty()) return v;
      must(is_dict(a[0]) || a[0]->kind == kList);
      for (size_t i = 0; i < a[0]->items.size(); ++i) {
        V* item = a[0]->items[i];
        if (is_dict(a[0])) {
          set(v, item, a[0]->values[i]);
        } else {
          must((item->kind == kList || item->kind == kTuple) && item->items.size() == 2);
          set(v, item->items[0], item->items[1]);
        }
      }
      return v;
    }
    if (name == "collections.defaultdict") {
      must(a.size() <= 1);
      if (a.empty() || a[0]->kind == kNone) return make(kDefault);
      must(a[0]->kind == kName && a[0]->text.rfind("builtins.", 0) == 0);
      return of_text(kDefault, a[0]->text.substr(9));
    }
    return nullptr;
  }

  V* call(const std::string& name, const std::vector<V*>& a) {
    if (V* v = builtin(name, a)) return v;
    if (const std::string numpy = numpy_name(name); !numpy.empty()) return numpy_call(*this, numpy, a);
    const std::string torch = name.rfind("torch._utils.", 0) == 0 ? name.substr(13) : "";
    if (torch == "_rebuild_tensor") {
      must(a.size() == 4);
      return tensor(a, nullptr);
    }
    if (torch == "_rebuild_tensor_v2" || torch == "_rebuild_tensor_v3") {
      const size_t least = torch == "_rebuild_tensor_v2" ? 6 : 7;
      must(a.size() == least || a.size() == least + 1);
      V* t = tensor(a, least == 7 ? dtype_of(a[6]) : nullptr);
      if (a.size() > least && a.back()->kind != kNone) {
        must(is_dict(a.back()));
        for (size_t i = 0; i < a.back()->items.size(); ++i) {
          const std::string& mark = text_of(a.back()->items[i]);
          const V* set = a.back()->values[i];
          must((mark == "conj" || mark == "neg") && set->kind == kBool);
          if (set->i != 0) must(may_be_computed(t, mark));
        }
      }
      require_grad(t, a[4]);
      return t;
    }
    if (torch == "_rebuild_parameter" || torch == "_rebuild_parameter_with_state") {
      const bool state = torch != "_rebuild_parameter";
      must(a.size() == (state ? 4 : 3) && is_tensor(a[0]));
      V* t = copy_of(a[0], kParameter);
      t->grad = false;
      require_grad(t, a[1]);
      return state ? with_state(t, a[3]) : t;
    }
    if (torch == "_rebuild_meta_tensor_no_storage") {
      must(a.size() == 4);
      V* t = make(kTensor);
      t->dtype = dtype_of(a[0]);
      t->sizes = dims(a[1]);
      t->strides = dims(a[2]);
      check_layout(t, INT64_MAX);
      require_grad(t, a[3]);
      return t;
    }
    if (name == "torch._tensor._rebuild_from_type_v2") {
      must(a.size() == 4 && a[0]->kind == kName && a[0]->text != name && a[1]->kind == kName && a[2]->kind == kTuple);
      V* t = call(a[0]->text, a[2]->items);
      const std::string& type = a[1]->text;
      const bool parameter = type == "torch.nn.parameter.Parameter";
      must(is_tensor(t) && (parameter || type == "torch.Tensor" || type == "torch.nn.parameter.Buffer"));
      return with_state(parameter ? copy_of(t, kParameter) : t, a[3]);
    }
    if (name == "torch.Size") {
      must(a.size() <= 1);
      V* v = make(kSize);
      if (a.empty()) return v;
      must(is_sequence(a[0]));
      for (const V* item : a[0]->items) int_of(item);
      v->items = a[0]->items;
      return v;
    }
    if (name == "torch.device") {
      must(a.size() == 1 || a.size() == 2);
      std::string text = text_of(a[0]);
      if (a.size() == 2) text += ":" + std::to_string(int_of(a[1]));
      const size_t colon = std::min(text.find(':'), text.size());
      const std::string type = text.substr(0, colon);
      must(type == "cpu" || type == "cuda" || type == "meta");
      V* v = of_text(kDevice, type);
      if (colon < text.size()) {
        int64_t index = 0;
        must(colon + 1 < text.size());
        for (const char c : text.substr(colon + 1)) {
          must(c >= '0' && c <= '9');
          index = std::min<int64_t>(index * 10 + (c - '0'), 1000);
        }
        must(index < 128);
        v->text += ":" + std::to_string(index);
      }
      return v;
    }
    if (name == "torch.serialization._get_layout") {
      must(a.size() == 1 && text_of(a[0]) == "torch.strided");
      return of_text(kLayout, a[0]->text);
    }
    if (archive_.script && name.rfind("torch.jit._pickle.", 0) == 0) {
      must(a.size() == (name == "torch.jit._pickle.restore_type_tag" ? 2 : 1));
      return a[0];
    }
    throw Refused();
  }

  bool may_be_computed(const V* t, const std::string& mark) {
    computed_ = true;
    Wide bytes = 16;
    for (const int64_t n : t->sizes) bytes = std::min(bytes * static_cast<Wide>(n), static_cast<Wide>(1) << 60);
    computed_bytes_ += static_cast<double>(bytes);
    if (computed_bytes_ > 1 << 24) throw Large();
    return mark == "conj" || t->dtype->name != std::string_view("bool");
  }

  V* create(const std::string& name, const std::vector<V*>& a) {
    if (name.rfind("__torch__.", 0) == 0) {
      must(a.empty());
      return of_text(kObject, name);
    }
    V* v = builtin(name, a);
    must(v != nullptr);
    return v;
  }

  void build(V* object, V* state) {
    if (object->kind == kNumpyDtype || object->kind == kNdarray) return numpy_build(*this, object, state);
    must(is_dict(state));
    for (const V* key : state->items) must(key->kind == kText);
    if (object->kind == kObject) {
      for (size_t i = 0; i < state->items.size(); ++i) set(object, state->items[i], state->values[i]);
      return;
    }
    must(object->kind == kOrdered || object->kind == kCounter);
    object->attributes = state;
  }

  // ---- the tree

  // Returns the depth of a value; a value that contains itself is refused.
  int visit(V* v) {
    must(v->kind != kName && v->state != 1);
    if (v->state == 2) return v->depth;
    v->state = 1;
    v->depth = 1;
    const auto child = [&](V* c) { v->depth = std::max(v->depth, visit(c) + 1); };
    if (is_sequence(v) || is_dict(v))
      for (V* item : v->items) child(item);
    for (V* value : v->values) child(value);
    if (v->attributes) child(v->attributes);
    must(v->depth <= 128);
    v->state = 2;
    return v->depth;
  }

  void write(const V* v, std::string& out) {
    const auto [it, added] = numbers_.emplace(v, numbers_.size());
    const bool shared = is_sequence(v) || is_dict(v) || is_tensor(v);
    if (shared && !added) {
      out += "#" + std::to_string(it->second) + " ";
      return;
    }
    if (!shared) numbers_.erase(it);
    out += std::to_string(v->kind) + ":";
    if (v->kind == kBool || v->kind == kInt) out += std::to_string(v->i);
    if (v->kind == kFloat || v->kind == kComplex) out += bits(v->d);
    if (v->kind == kComplex) out += bits(v->e);
    if (v->kind == kDtype) out += v->dtype->name;
    if (is_tensor(v) || v->kind == kStorage) {
      out += v->dtype->name;
      if (is_tensor(v)) {
        out += v->grad ? " grad" : "";
        for (const int64_t n : v->sizes) out += " " + std::to_string(n);
        out += " /";
        for (const int64_t n : v->strides) out += " " + std::to_string(n);
        out += " @" + std::to_string(v->i);
      }
      if (v->bytes) {
        const auto [storage, first] = written_.emplace(v->bytes, written_.size());
        out += " in " + std::to_string(storage->second);
        if (first) out += "=" + *v->bytes;
      }
    } else {
      out += v->text;
    }
    if (is_sequence(v) || is_dict(v)) {
      out += "(";
      for (const V* item : v->items) write(item, out);
      for (const V* value : v->values) write(value, out);
      out += ")";
    }
    if (v->attributes) {
      out += "with ";
      write(v->attributes, out);
    }
    out += " ";
  }
  static std::string bits(double d) {
    uint64_t u = 0;
    std::memcpy(&u, &d, 8);
    return std::to_string(u) + ",";
  }

  const TorchArchive archive_;
  std::string_view bytes_;
  size_t at_ = 0;
  bool computed_ = false;
  double computed_bytes_ = 0;
  std::vector<V*> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, V*> memo_;
  std::map<std::string, std::pair<std::string, V*>> storages_;
  std::vector<std::unique_ptr<std::string>> owned_;
  std::unordered_map<const V*, size_t> numbers_;
  std::unordered_map<const std::string*, size_t> written_;
};

}  // namespace

std::optional<Judgement> judge_torch(std::string_view file) { return Judge(file).run(); }

}  // namespace argand::fuzz
