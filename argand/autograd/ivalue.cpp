#include "argand/autograd/ivalue.h"

#include <algorithm>
#include <new>
#include <ostream>
#include <unordered_map>
#include <variant>

#include "argand/autograd/dict.h"
#include "argand/autograd/list.h"
#include "argand/ops/print/number_text.h"
#include "argand/ops/print/print.h"

namespace argand {

namespace {
template <class T>
using Shared = std::shared_ptr<std::vector<T>>;
template <class T>
Shared<T> shared(std::vector<T> v) {
  return std::make_shared<std::vector<T>>(std::move(v));
}
using SharedDict = std::shared_ptr<ivalue::DictElements>;
}  // namespace

struct IValue::Value : std::variant<std::monostate, Tensor, bool, int64_t, double, Scalar, std::string, Shared<int64_t>,
                                    Shared<double>, Shared<Tensor>, Device, Generator, Shared<IValue>,
                                    intrusive_ptr<ivalue::Tuple>, SharedDict, intrusive_ptr<ivalue::Object>> {
  using variant::variant;
};

IValue::Value& IValue::value() { return *std::launder(reinterpret_cast<Value*>(bytes_)); }
const IValue::Value& IValue::value() const { return *std::launder(reinterpret_cast<const Value*>(bytes_)); }

template <class T>
IValue::IValue(std::in_place_type_t<T>, T v) {
  static_assert(sizeof(Value) <= sizeof(bytes_) && alignof(Value) <= alignof(void*));
  new (bytes_) Value(std::in_place_type<T>, std::move(v));
}

template <class T>
bool IValue::is() const {
  return std::holds_alternative<T>(value());
}

template <class T>
const T& IValue::get(const char* name) const {
  ARGAND_CHECK(ValueError, is<T>(), "IValue: expected ", name, ", but it holds another type");
  return std::get<T>(value());
}

IValue::IValue() { new (bytes_) Value; }
IValue::IValue(const IValue& o) { new (bytes_) Value(o.value()); }
IValue::IValue(IValue&& o) noexcept { new (bytes_) Value(std::move(o.value())); }
IValue& IValue::operator=(const IValue& o) {
  value() = o.value();
  return *this;
}
IValue& IValue::operator=(IValue&& o) noexcept {
  value() = std::move(o.value());
  return *this;
}

// A program can nest containers as deep as memory reaches.  Below a depth they wait until those around them are freed.
void IValue::destroy_container() noexcept {
  constexpr int kMaxDepth = 64;
  static thread_local int depth = 0;
  static thread_local std::vector<Value>* waiting = nullptr;  // of the outermost call
  if (depth == kMaxDepth) {
    waiting->push_back(std::move(value()));
    value().~Value();
    return;
  }
  std::vector<Value> mine;
  if (depth == 0) waiting = &mine;
  ++depth;
  value().~Value();
  while (!mine.empty()) {
    const Value next = std::move(mine.back());
    mine.pop_back();
  }
  --depth;
}

IValue::~IValue() {
  if (kind() < Kind::kList)
    value().~Value();
  else
    destroy_container();
}

template <class T>
using Is = std::in_place_type_t<T>;
IValue::IValue(Tensor v) : IValue(Is<Tensor>(), std::move(v)) {}
IValue::IValue(bool v) : IValue(Is<bool>(), v) {}
IValue::IValue(double v) : IValue(Is<double>(), v) {}
IValue::IValue(int64_t v) : IValue(Is<int64_t>(), v) {}
IValue::IValue(const Scalar& v) : IValue(Is<Scalar>(), Scalar(v)) {}
IValue::IValue(std::string v) : IValue(Is<std::string>(), std::move(v)) {}
IValue::IValue(const char* v) : IValue(std::string(v)) {}
IValue::IValue(IntArrayRef v) : IValue(v.vec()) {}
IValue::IValue(std::vector<int64_t> v) : IValue(Is<Shared<int64_t>>(), shared(std::move(v))) {}
IValue::IValue(std::vector<double> v) : IValue(Is<Shared<double>>(), shared(std::move(v))) {}
IValue::IValue(std::vector<Tensor> v) : IValue(Is<Shared<Tensor>>(), shared(std::move(v))) {}
IValue::IValue(const Device& v) : IValue(Is<Device>(), Device(v)) {}
IValue::IValue(Generator v) : IValue(Is<Generator>(), std::move(v)) {}
IValue::IValue(std::vector<IValue> v) : IValue(Is<Shared<IValue>>(), shared(std::move(v))) {}
IValue::IValue(intrusive_ptr<ivalue::Tuple> v) : IValue(Is<intrusive_ptr<ivalue::Tuple>>(), std::move(v)) {}
IValue::IValue(SharedDict v) : IValue(Is<SharedDict>(), std::move(v)) {}
IValue::IValue(intrusive_ptr<ivalue::Object> v) : IValue(Is<intrusive_ptr<ivalue::Object>>(), std::move(v)) {}
void IValue::share(const Shared<int64_t>& v) { value() = v; }
void IValue::share(const Shared<double>& v) { value() = v; }
void IValue::share(const Shared<Tensor>& v) { value() = v; }
void IValue::share(const Shared<IValue>& v) { value() = v; }
intrusive_ptr<ivalue::Tuple> IValue::tuple_of(std::vector<IValue> elements) {
  return ivalue::Tuple::create(std::move(elements));
}

IValue::Kind IValue::kind() const { return static_cast<Kind>(value().index()); }
bool IValue::isNone() const { return is<std::monostate>(); }
bool IValue::isTensor() const { return is<Tensor>(); }
bool IValue::isBool() const { return is<bool>(); }
bool IValue::isInt() const { return is<int64_t>(); }
bool IValue::isDouble() const { return is<double>(); }
bool IValue::isString() const { return is<std::string>(); }
bool IValue::isIntList() const { return is<Shared<int64_t>>(); }
bool IValue::isDoubleList() const { return is<Shared<double>>(); }
bool IValue::isTensorList() const { return is<Shared<Tensor>>(); }
bool IValue::isBoolList() const {
  return isGenericList() && !toListRef().empty() &&
         std::all_of(toListRef().begin(), toListRef().end(), [](const IValue& e) { return e.isBool(); });
}
bool IValue::isDevice() const { return is<Device>(); }
bool IValue::isGenerator() const { return is<Generator>(); }
bool IValue::isGenericList() const { return is<Shared<IValue>>(); }
bool IValue::isList() const { return isIntList() || isDoubleList() || isTensorList() || isGenericList(); }
bool IValue::isTuple() const { return is<intrusive_ptr<ivalue::Tuple>>(); }
bool IValue::isGenericDict() const { return is<SharedDict>(); }
bool IValue::isObject() const { return is<intrusive_ptr<ivalue::Object>>(); }
bool IValue::isModule() const { return isObject() && toObject()->is_module(); }
bool IValue::isComplexDouble() const { return is<Scalar>() && std::get<Scalar>(value()).isComplex(); }
bool IValue::isScalar() const { return isInt() || isDouble() || isBool() || is<Scalar>(); }

std::string IValue::tagKind() const {
  // In the order of Value; lists are of one kind.
  constexpr const char* names[] = {"None",        "Tensor",      "Bool",        "Int",         "Double", "Scalar",
                                   "String",      "GenericList", "GenericList", "GenericList", "Device", "Generator",
                                   "GenericList", "Tuple",       "GenericDict", "Object"};
  return names[value().index()];
}

const Tensor& IValue::toTensor() const { return get<Tensor>("Tensor"); }
bool IValue::toBool() const { return get<bool>("bool"); }
int64_t IValue::toInt() const { return get<int64_t>("int"); }
double IValue::toDouble() const { return get<double>("double"); }
const std::string& IValue::toStringRef() const { return get<std::string>("string"); }
Scalar IValue::toScalar() const {
  if (isInt()) return toInt();
  if (isDouble()) return toDouble();
  if (isBool()) return toBool();
  return get<Scalar>("Scalar");
}
const std::vector<int64_t>& IValue::toIntVector() const { return *get<Shared<int64_t>>("int[]"); }
const std::vector<double>& IValue::toDoubleVector() const { return *get<Shared<double>>("double[]"); }
const std::vector<Tensor>& IValue::toTensorVector() const { return *get<Shared<Tensor>>("Tensor[]"); }
const Device& IValue::toDevice() const { return get<Device>("Device"); }
const Generator& IValue::toGenerator() const { return get<Generator>("Generator"); }
const std::vector<IValue>& IValue::toListRef() const { return *get<Shared<IValue>>("list"); }
List<int64_t> IValue::toIntList() const { return List<int64_t>(get<Shared<int64_t>>("int[]")); }
List<double> IValue::toDoubleList() const { return List<double>(get<Shared<double>>("double[]")); }
List<Tensor> IValue::toTensorList() const { return List<Tensor>(get<Shared<Tensor>>("Tensor[]")); }
List<bool> IValue::toBoolList() const {
  List<bool> out;
  for (const IValue& e : toListRef()) out.push_back(e.toBool());
  return out;
}
List<IValue> IValue::toList() const {
  const auto copied = [](const auto& v) { return List<IValue>(shared(std::vector<IValue>(v.begin(), v.end()))); };
  if (isIntList()) return copied(toIntVector());
  if (isDoubleList()) return copied(toDoubleVector());
  if (isTensorList()) return copied(toTensorVector());
  return List<IValue>(get<Shared<IValue>>("list"));
}
const intrusive_ptr<ivalue::Tuple>& IValue::toTuple() const { return get<intrusive_ptr<ivalue::Tuple>>("tuple"); }
const ivalue::Tuple& IValue::toTupleRef() const { return *toTuple(); }
const SharedDict& IValue::dict_elements() const { return get<SharedDict>("dict"); }
const intrusive_ptr<ivalue::Object>& IValue::toObject() const { return get<intrusive_ptr<ivalue::Object>>("object"); }
std::complex<double> IValue::toComplexDouble() const { return toScalar().to<std::complex<double>>(); }
Dict<IValue, IValue> IValue::toGenericDict() const { return Dict<IValue, IValue>(dict_elements()); }

bool operator==(const IValue& a, const IValue& b) {
  if (a.value().index() != b.value().index()) return false;
  return std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        const T& y = std::get<T>(b.value());
        if constexpr (std::is_same_v<T, Tensor>)
          return x.is_same(y);
        else if constexpr (std::is_same_v<T, Scalar>)
          return x.isComplex() || y.isComplex()
                     ? x.template to<std::complex<double>>() == y.template to<std::complex<double>>()
                     : x.toDouble() == y.toDouble();
        else if constexpr (std::is_same_v<T, Generator>)
          return x.defined() == y.defined() && (!x.defined() || &Generator(x).mutex() == &Generator(y).mutex());
        else if constexpr (std::is_same_v<T, Shared<Tensor>>)
          return std::equal(x->begin(), x->end(), y->begin(), y->end(),
                            [](const Tensor& s, const Tensor& t) { return s.is_same(t); });
        else if constexpr (std::is_same_v<T, intrusive_ptr<ivalue::Tuple>>)
          return x->elements() == y->elements();
        else if constexpr (std::is_same_v<T, SharedDict>)
          return x->entries == y->entries;
        else if constexpr (requires { x->size(); })
          return *x == *y;
        else
          return x == y;
      },
      static_cast<const IValue::Value::variant&>(a.value()));
}

std::ostream& operator<<(std::ostream& out, const IValue& v) {
  const auto several = [&](const char* open, const auto& elements, const char* close) {
    out << open;
    const char* before = "";
    for (const auto& e : elements) {
      out << before << IValue(e);
      before = ", ";
    }
    return &(out << close);
  };
  if (v.isNone()) return out << "None";
  if (v.isTensor()) return out << v.toTensor();
  if (v.isBool()) return out << (v.toBool() ? "True" : "False");
  if (v.isInt()) return out << v.toInt();
  if (v.isDouble()) {
    const std::string text = ops::number_text(v.toDouble(), std::chars_format::general, 17);
    return out << text << (text.find_first_not_of("-0123456789") == std::string::npos ? "." : "");
  }
  if (v.isString()) return out << v.toStringRef();
  if (v.isIntList()) return *several("[", v.toIntVector(), "]");
  if (v.isDoubleList()) return *several("[", v.toDoubleVector(), "]");
  if (v.isTensorList()) return *several("[", v.toTensorVector(), "]");
  if (v.isGenericList()) return *several("[", v.toListRef(), "]");
  if (v.isTuple()) return *several("(", v.toTupleRef().elements(), v.toTupleRef().size() == 1 ? ",)" : ")");
  if (v.isDevice()) return out << v.toDevice();
  if (v.isGenerator()) return out << "Generator";
  if (v.isObject()) return out << "<" << v.toObject()->type_name() << " object>";
  if (!v.isGenericDict()) return out << v.toScalar();
  out << '{';
  const char* before = "";
  for (const auto& [key, mapped] : v.dict_elements()->entries) {
    out << before << key << ": " << mapped;
    before = ", ";
  }
  return out << '}';
}

// ---- the entries of a dict

namespace ivalue {

struct DictElements::Index : std::unordered_multimap<size_t, size_t> {};  // positions by the hash of their key

namespace {
size_t hash_of(const IValue& key) {
  if (key.isString()) return std::hash<std::string>()(key.toStringRef());
  if (key.isInt()) return std::hash<int64_t>()(key.toInt());
  if (key.isDouble()) return std::hash<double>()(key.toDouble());
  if (key.isBool()) return key.toBool();
  if (key.isTensor()) return std::hash<const void*>()(key.toTensor().unsafeGetTensorImpl());
  ARGAND_THROW(ValueError, "Dict: expected a key of type int, float, bool, str or Tensor, got ", key.tagKind());
}
}  // namespace

size_t DictElements::find(const IValue& key) const {
  const size_t hash = hash_of(key);
  if (!index_) return entries.size();
  const auto [first, last] = index_->equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (entries[it->second].first == key) return it->second;
  return entries.size();
}

std::pair<size_t, bool> DictElements::insert(IValue key, IValue value) {
  const size_t i = find(key);
  if (i < entries.size()) return {i, false};
  if (!index_) index_ = std::make_shared<Index>();
  index_->emplace(hash_of(key), i);
  entries.emplace_back(std::move(key), std::move(value));
  return {i, true};
}

void DictElements::erase(size_t i) {
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
  index_->clear();
  for (size_t k = 0; k < entries.size(); ++k) index_->emplace(hash_of(entries[k].first), k);
}

void DictElements::clear() {
  entries.clear();
  index_ = nullptr;
}

}  // namespace ivalue
}  // namespace argand
