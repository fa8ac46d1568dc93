#include <map>
#include <unordered_map>

#include "argand/exec/invoke.h"
#include "argand/io/numpy_names.h"
#include "bindings/checkpoints.h"
#include "bindings/constants.h"
#include "bindings/errors.h"
#include "bindings/tensor_object.h"

namespace argand::python {
namespace {

using io::Value;
using ValueKind = Value::Kind;

constexpr size_t kMaxNesting = 128;

// The classes that have no function of C's.
struct Classes {
  nb::object ordered_dict, counter, default_dict, parameter, untyped_storage, typed_storage, module, builtins, strided,
      per_rank;

  Classes() {
    const nb::module_ collections = nb::module_::import_("collections");
    ordered_dict = collections.attr("OrderedDict");
    counter = collections.attr("Counter");
    default_dict = collections.attr("defaultdict");
    parameter = nb::module_::import_("argand.nn.parameter").attr("Parameter");
    untyped_storage = nb::module_::import_("argand.storage").attr("UntypedStorage");
    typed_storage = nb::module_::import_("argand.storage").attr("TypedStorage").attr("over");
    module = nb::module_::import_("argand.nn").attr("Module");
    builtins = nb::module_::import_("builtins");
    strided = nb::module_::import_("argand").attr("strided");
    per_rank = nb::module_::import_("argand.checkpoint").attr("PerRank");
  }
};

void check(int status) {
  if (status != 0) throw nb::python_error();
}

// Python's hashes of numbers and tuples are predictable, and a dict whose keys have one hash takes quadratic time.
// More equal hashes than chance can produce are refused: fewer than a hundred 64-bit numbers share one.
class KeyHashes {
 public:
  void add(nb::handle key) {
    if (PyUnicode_CheckExact(key.ptr()) || PyBytes_CheckExact(key.ptr())) return;  // seeded in each process
    const Py_hash_t hash = PyObject_Hash(key.ptr());
    if (hash == -1) throw nb::python_error();
    ARGAND_CHECK(ValueError, ++counts_[hash] <= kMost, "load: more than ", kMost,
                 " keys of one dict or set have the hash ", hash);
  }

 private:
  static constexpr int kMost = 128;
  std::map<Py_hash_t, int> counts_;
};

class ToPython {
 public:
  nb::object convert(const Value& v) {
    if (!v.identity()) return make(v);
    const auto known = known_.find(v.identity());
    if (known != known_.end()) return known->second;
    nb::object out = make(v);
    known_.emplace(v.identity(), out);
    return out;
  }

 private:
  nb::object bytes(const Value& v) {
    const std::string& text = v.text();
    const auto size = static_cast<Py_ssize_t>(text.size());
    return owned(v.kind() == ValueKind::kBytes ? PyBytes_FromStringAndSize(text.data(), size)
                                               : PyByteArray_FromStringAndSize(text.data(), size));
  }
  nb::object list(const Value& v) {
    nb::object out = owned(PyList_New(static_cast<Py_ssize_t>(v.size())));
    for (size_t i = 0; i < v.size(); ++i)
      check(PyList_SetItem(out.ptr(), static_cast<Py_ssize_t>(i), convert(v[i]).release().ptr()));
    return out;
  }
  nb::object dict(const Value& v, nb::object out) {
    KeyHashes hashes;
    for (size_t i = 0; i < v.size(); ++i) {
      const nb::object key = convert(v.key(i));
      hashes.add(key);
      check(PyObject_SetItem(out.ptr(), key.ptr(), convert(v.value(i)).ptr()));
    }
    return with_attributes(v, std::move(out));
  }
  nb::object set(const Value& v, PyObject* (*make)(PyObject*)) {
    const nb::object elements = list(v);
    KeyHashes hashes;
    for (const nb::handle element : elements) hashes.add(element);
    return owned(make(elements.ptr()));
  }
  nb::object with_attributes(const Value& v, nb::object out) {
    if (v.attributes().is_dict()) out.attr("__dict__").attr("update")(convert(v.attributes()));
    return out;
  }
  // The array has memory of its own, which can be written.
  static nb::object array(const Value& dtype, nb::handle shape, nb::handle bytes, bool first_index_fastest) {
    const nb::module_ numpy = nb::module_::import_("numpy");
    const char* const order = first_index_fastest ? "F" : "C";
    return numpy.attr("ndarray")(shape, dtype[0].text().c_str(), bytes, 0, nb::none(), order).attr("copy")(order);
  }
  nb::object make(const Value& v) {
    switch (v.kind()) {
      case ValueKind::kNone:
        return nb::none();
      case ValueKind::kBool:
        return owned(PyBool_FromLong(v.to_bool()));
      case ValueKind::kInt:
        return owned(PyLong_FromLongLong(v.to_int()));
      case ValueKind::kBigInt:
        return owned(PyLong_FromString(v.text().c_str(), nullptr, 10));
      case ValueKind::kDouble:
        return owned(PyFloat_FromDouble(v.to_double()));
      case ValueKind::kComplex:
        return owned(PyComplex_FromDoubles(v.to_complex().real(), v.to_complex().imag()));
      case ValueKind::kString:
        return owned(PyUnicode_DecodeUTF8(v.text().data(), static_cast<Py_ssize_t>(v.text().size()), nullptr));
      case ValueKind::kBytes:
      case ValueKind::kByteArray:
        return bytes(v);
      case ValueKind::kList:
        return list(v);
      case ValueKind::kTuple:
        return owned(PyList_AsTuple(list(v).ptr()));
      case ValueKind::kSet:
        return set(v, PySet_New);
      case ValueKind::kFrozenSet:
        return set(v, PyFrozenSet_New);
      case ValueKind::kSlice:
        return owned(PySlice_New(convert(v[0]).ptr(), convert(v[1]).ptr(), convert(v[2]).ptr()));
      case ValueKind::kRange:
        return classes_.builtins.attr("range")(convert(v[0]), convert(v[1]), convert(v[2]));
      case ValueKind::kNumpyDtype:
        return nb::module_::import_("numpy").attr("dtype")(v[0].text().c_str());
      case ValueKind::kNdarray:
        return array(v[0], convert(v[1]), convert(v[3]), v[2].to_bool());
      case ValueKind::kNumpyScalar:
        return array(v[0], nb::tuple(), convert(v[1]), false)[nb::tuple()];
      case ValueKind::kSize: {
        std::vector<int64_t> sizes;
        for (size_t i = 0; i < v.size(); ++i) sizes.push_back(v[i].to_int());
        return owned(wrap_size(sizes));
      }
      case ValueKind::kDict:
      case ValueKind::kObject:
        return dict(v, owned(PyDict_New()));
      case ValueKind::kOrderedDict:
        return dict(v, classes_.ordered_dict());
      case ValueKind::kCounter:
        return dict(v, classes_.counter());
      case ValueKind::kDefaultDict:
        // The reader lets no other names through than those of plain types.
        return dict(v, classes_.default_dict(v.text().empty() ? nb::none()
                                                              : nb::object(classes_.builtins.attr(v.text().c_str()))));
      case ValueKind::kDtype:
        return owned(wrap(v.dtype()));
      case ValueKind::kDevice:
        return owned(wrap(v.device()));
      case ValueKind::kLayout:
        return classes_.strided;
      case ValueKind::kTensor:
        return with_attributes(v, owned(wrap(v.tensor())));
      case ValueKind::kParameter:
        return with_attributes(v,
                               owned(wrap_as(reinterpret_cast<PyTypeObject*>(classes_.parameter.ptr()), v.tensor())));
      case ValueKind::kStorage:
        return (v.tensor().dtype() == kByte ? classes_.untyped_storage
                                            : classes_.typed_storage)(owned(wrap(v.tensor())));
      case ValueKind::kGlobal:
        break;
    }
    ARGAND_THROW(ValueError, "load: a ", Value::kind_name(v.kind()));
  }

  Classes classes_;
  std::unordered_map<const void*, nb::object> known_;
};

class FromPython {
 public:
  Value convert(nb::handle object) {
    const auto known = known_.find(object.ptr());
    if (known != known_.end()) return known->second;
    ARGAND_CHECK(ValueError, ++depth_ <= kMaxNesting, "save: values are nested deeper than ", kMaxNesting,
                 ", or hold themselves");
    Value out = make(object);
    --depth_;
    if (out.identity()) {
      known_.emplace(object.ptr(), out);
      alive_.push_back(nb::borrow(object));  // its address stays its own
    }
    return out;
  }

 private:
  bool is(nb::handle object, nb::handle type) const {
    return reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) == type.ptr();
  }

  static std::string bytes_of(nb::handle object) {
    char* data = nullptr;
    Py_ssize_t size = 0;
    check(PyBytes_AsStringAndSize(object.ptr(), &data, &size));
    return {data, static_cast<size_t>(size)};
  }
  static std::string utf8_of(nb::handle text) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (!data) throw nb::python_error();
    return {data, static_cast<size_t>(size)};
  }
  Value integer(nb::handle object) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
    if (overflow == 0) return static_cast<int64_t>(value);
    return Value::with_text(ValueKind::kBigInt, utf8_of(nb::str(object)));
  }
  std::vector<Value> elements(nb::handle object) {
    std::vector<Value> out;
    for (const nb::handle item : nb::borrow(object)) out.push_back(convert(item));
    return out;
  }
  // `object` is a dict of some class.
  Value dict(nb::handle object, Value out) {
    const nb::object items = owned(PyDict_Items(object.ptr()));
    for (const nb::handle item : items) out.set(convert(item[0]), convert(item[1]));
    return out;
  }
  // `source` has a __dict__, which may be null or empty.
  Value with_attributes(nb::handle source, Value out) {
    const nb::object attributes = nb::getattr(source, "__dict__", nb::none());
    if (!attributes.is_none() && nb::len(attributes) > 0) out.set_attributes(dict(attributes, Value::dict()));
    return out;
  }

  Value make(nb::handle o) {
    PyObject* const p = o.ptr();
    if (o.is_none()) return {};
    if (PyBool_Check(p)) return Value(p == Py_True);
    if (PyLong_CheckExact(p)) return integer(o);
    if (PyFloat_CheckExact(p)) return PyFloat_AsDouble(p);
    if (PyComplex_CheckExact(p)) return std::complex<double>(PyComplex_RealAsDouble(p), PyComplex_ImagAsDouble(p));
    if (PyUnicode_CheckExact(p)) return utf8_of(o);
    if (PyBytes_CheckExact(p)) return Value::with_text(ValueKind::kBytes, bytes_of(o));
    if (is(o, reinterpret_cast<PyObject*>(&PyByteArray_Type)))
      return Value::with_text(ValueKind::kByteArray, bytes_of(owned(PyBytes_FromObject(p))));
    if (PyList_CheckExact(p)) return Value::list(elements(o));
    if (PyTuple_CheckExact(p)) return Value::tuple(elements(o));
    if (is(o, reinterpret_cast<PyObject*>(size_type))) return Value::with_items(ValueKind::kSize, elements(o));
    if (is(o, reinterpret_cast<PyObject*>(&PySet_Type))) return Value::with_items(ValueKind::kSet, elements(o));
    if (is(o, reinterpret_cast<PyObject*>(&PyFrozenSet_Type)))
      return Value::with_items(ValueKind::kFrozenSet, elements(o));
    if (PyDict_CheckExact(p) || is(o, classes_.per_rank)) return dict(o, Value::dict());
    if (is(o, classes_.ordered_dict)) return with_attributes(o, dict(o, Value::with_items(ValueKind::kOrderedDict)));
    if (is(o, classes_.counter)) return dict(o, Value::with_items(ValueKind::kCounter));
    if (is(o, classes_.default_dict)) return dict(o, Value::with_text(ValueKind::kDefaultDict, factory_of(o)));
    if (is(o, reinterpret_cast<PyObject*>(&PySlice_Type)) || is(o, reinterpret_cast<PyObject*>(&PyRange_Type)))
      return Value::with_items(
          is(o, reinterpret_cast<PyObject*>(&PySlice_Type)) ? ValueKind::kSlice : ValueKind::kRange,
          {convert(o.attr("start")), convert(o.attr("stop")), convert(o.attr("step"))});
    if (is(o, reinterpret_cast<PyObject*>(tensor_type))) return with_attributes(o, Value(as_tensor(p)));
    if (is(o, classes_.parameter)) return with_attributes(o, Value::parameter(as_tensor(p)));
    if (is(o, reinterpret_cast<PyObject*>(dtype_type))) return *as_dtype(p);
    if (is(o, reinterpret_cast<PyObject*>(device_type))) return *as_device(p);
    if (is(o, reinterpret_cast<PyObject*>(layout_type))) {
      check_layout(p);
      return Value::with_text(ValueKind::kLayout, "torch.strided");
    }
    const std::string type = type_name(p);
    if (const nb::object plain = numpy_number(o, type); plain.is_valid()) return make(plain);
    if (type == "numpy.ndarray") return array(o);
    if (type.starts_with("numpy.dtype")) return io::numpy_dtype(utf8_of(o.attr("str")));
    ARGAND_THROW(ValueError, "save: a value of type ", type,
                 " cannot be saved: load() reads tensors, containers and plain values, no other objects",
                 nb::isinstance(o, classes_.module) ? "; save the module's state_dict()" : "");
  }
  Value array(nb::handle o) {
    const nb::object flags = o.attr("flags");
    const bool columns = nb::cast<bool>(flags.attr("f_contiguous")) && !nb::cast<bool>(flags.attr("c_contiguous"));
    const nb::object dtype = o.attr("dtype");
    Value type;
    try {
      type = io::numpy_dtype(utf8_of(dtype.attr("str")));
    } catch (const ValueError&) {
      ARGAND_THROW(ValueError, "save: a NumPy array of ", utf8_of(nb::str(dtype)),
                   " cannot be saved: load() reads arrays of bools, numbers and texts");
    }
    return io::numpy_array(type, convert(o.attr("shape")), columns,
                           Value::with_text(ValueKind::kBytes, bytes_of(o.attr("tobytes")(columns ? "F" : "C"))));
  }
  // Numbers and texts of NumPy's are saved as the plain ones that they are equal to.
  static nb::object numpy_number(nb::handle o, std::string_view type) {
    for (const char* prefix : {"bool", "int", "uint", "float", "complex", "str", "bytes"}) {
      if (!type.starts_with("numpy.") || !type.substr(6).starts_with(prefix)) continue;
      nb::object plain = o.attr("item")();
      if (!type_name(plain.ptr()).starts_with("numpy.")) return plain;  // a longdouble stays one
    }
    return {};
  }
  std::string factory_of(nb::handle o) const {
    const nb::object factory = o.attr("default_factory");
    if (factory.is_none()) return "";
    const std::string name = PyType_Check(factory.ptr()) ? utf8_of(nb::str(factory.attr("__name__"))) : "";
    for (const char* known : {"int", "float", "bool", "str", "list", "dict", "set", "tuple", "bytes", "complex"})
      if (name == known && factory.is(classes_.builtins.attr(known))) return name;
    ARGAND_THROW(ValueError, "save: a defaultdict cannot be saved whose values are made by ",
                 utf8_of(nb::repr(factory)));
  }

  Classes classes_;
  std::unordered_map<PyObject*, Value> known_;
  std::vector<nb::object> alive_;
  size_t depth_ = 0;
};

}  // namespace

nb::object to_python(const Value& value) { return ToPython().convert(value); }
Value from_python(nb::handle object) { return FromPython().convert(object); }

}  // namespace argand::python
