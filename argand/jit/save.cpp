#include "argand/jit/save.h"

#include <algorithm>
#include <map>
#include <ostream>

#include "argand/autograd/dict.h"
#include "argand/autograd/list.h"
#include "argand/io/file.h"
#include "argand/io/pickle.h"
#include "argand/io/torch_storage.h"
#include "argand/io/utf8.h"
#include "argand/jit/class.h"
#include "argand/jit/program.h"

namespace argand::jit {

namespace {

using io::Value;

// How values of TorchScript are written: a list or a dict is followed by its type.
class Forms final : public io::PickleForms {
 public:
  bool form_of(const Value& v, Form& form) override {
    switch (v.kind()) {
      case Value::Kind::kObject:
        form = class_named(v.text());
        form.state = Value::dict();
        for (size_t i = 0; i < v.size(); ++i) form.state.set(v.key(i), v.value(i));
        form.creates = true;
        return true;
      case Value::Kind::kList:
      case Value::Kind::kDict:
        return typed(v, form);
      case Value::Kind::kComplex:
        form = {"builtins", "complex", Value::tuple({v.to_complex().real(), v.to_complex().imag()})};
        return true;
      case Value::Kind::kDevice:
        form = {"torch", "device", Value::tuple({v.device().str()})};
        return true;
      case Value::Kind::kTensor: {
        // PyTorch reads a storage again wherever it is named, so it is named once.
        torch_.form_of(v, form);
        const Value& a = form.arguments;
        const Value& storage = storages_.emplace(v.tensor().storage().get(), a[0]).first->second;
        form.arguments = Value::tuple({storage, a[1], a[2], a[3], a[4], a[5]});
        return true;
      }
      default: {
        const bool special = torch_.form_of(v, form);
        form.once = v.kind() == Value::Kind::kStorage;
        return special;
      }
    }
  }
  void set_type(const Value& container, const Type& type) { types_.emplace(container.identity(), type); }
  const std::vector<Tensor>& storages() const { return torch_.storages(); }

 private:
  static Form class_named(const std::string& name) {
    const size_t dot = name.rfind('.');
    return {name.substr(0, dot), name.substr(dot + 1), Value()};
  }
  bool typed(const Value& v, Form& form) {
    const auto type = types_.find(v.identity());
    if (type == types_.end()) return false;  // the plain one inside of the call
    Value plain = v.kind() == Value::Kind::kList ? Value::list() : Value::dict();
    for (size_t i = 0; i < v.size(); ++i) v.is_dict() ? plain.set(v.key(i), v.value(i)) : plain.push_back(v[i]);
    const char* special = special_list(type->second);
    if (special)
      form = {"torch.jit._pickle", special, Value::tuple({plain})};
    else
      form = {"torch.jit._pickle", "restore_type_tag", Value::tuple({plain, type->second.str()})};
    return true;
  }
  static const char* special_list(const Type& type) {
    if (type.kind != Type::Kind::kList) return nullptr;
    switch (type.elements[0].kind) {
      case Type::Kind::kInt:
        return "build_intlist";
      case Type::Kind::kFloat:
        return "build_doublelist";
      case Type::Kind::kBool:
        return "build_boollist";
      case Type::Kind::kTensor:
        return "build_tensorlist";
      default:
        return nullptr;
    }
  }
  io::TorchForms torch_;
  std::map<const void*, Type> types_;
  std::map<const void*, Value> storages_;
};

// From the values of a program to those of a pickle.  What is shared in the program is shared in the file.
class Values {
 public:
  explicit Values(Forms& forms) : forms_(forms) {}

  // `type` is the declared one; where it says nothing of the elements, they do.
  Value value(const IValue& v, const Type& type, size_t depth = 0) {
    using Kind = IValue::Kind;
    ARGAND_CHECK(ValueError, depth < io::PickleLimits().nesting, "torch::jit::Module::save: values nested deeper than ",
                 io::PickleLimits().nesting);
    if (type.kind == Type::Kind::kOptional && !v.isNone()) return value(v, type.elements[0], depth);
    switch (v.kind()) {
      case Kind::kNone:
        return {};
      case Kind::kTensor:
        return tensor(v.toTensor());
      case Kind::kBool:
        return v.toBool();
      case Kind::kInt:
        return v.toInt();
      case Kind::kDouble:
        return v.toDouble();
      case Kind::kScalar:
        return v.toComplexDouble();
      case Kind::kString:
        return v.toStringRef();
      case Kind::kDevice:
        return v.toDevice();
      case Kind::kIntList:
        return list(&v.toIntVector(), v.toIntVector(), type, depth);
      case Kind::kDoubleList:
        return list(&v.toDoubleVector(), v.toDoubleVector(), type, depth);
      case Kind::kTensorList:
        return list(&v.toTensorVector(), v.toTensorVector(), type, depth);
      case Kind::kList:
        return list(&v.toListRef(), v.toListRef(), type, depth);
      case Kind::kTuple:
        return tuple(v.toTupleRef(), type, depth);
      case Kind::kDict:
        return dict(*v.dict_elements(), type, depth);
      case Kind::kObject:
        return object(v.toObject(), depth);
      case Kind::kGenerator:
        break;
    }
    ARGAND_THROW(ValueError, "torch::jit::Module::save: no archive holds a value of type ", v.tagKind());
  }

 private:
  template <class Make>
  Value once(const void* identity, Make make) {
    const auto known = done_.find(identity);
    if (known != done_.end()) return known->second;
    const Value made = make();
    return done_.emplace(identity, made).first->second;
  }
  Value tensor(const Tensor& t) {
    if (!t.defined()) return {};
    ARGAND_CHECK(ValueError, !t.is_meta(),
                 "torch::jit::Module::save: a tensor on the device meta has no elements to save");
    return once(t.unsafeGetTensorImpl(), [&] { return Value(t); });
  }

  // The type of an element where its container's type does not say it.
  static Type type_of_value(const IValue& v) {
    using Kind = IValue::Kind;
    const auto of = [](Type::Kind kind) { return Type{kind, "", {}}; };
    switch (v.kind()) {
      case Kind::kNone:
        return of(Type::Kind::kNone);
      case Kind::kTensor:
        return of(Type::Kind::kTensor);
      case Kind::kBool:
        return of(Type::Kind::kBool);
      case Kind::kInt:
        return of(Type::Kind::kInt);
      case Kind::kDouble:
        return of(Type::Kind::kFloat);
      case Kind::kScalar:
        return of(Type::Kind::kComplex);
      case Kind::kString:
        return of(Type::Kind::kStr);
      case Kind::kDevice:
        return of(Type::Kind::kDevice);
      case Kind::kObject:
        return {Type::Kind::kClass, v.toObject()->type_name(), {}};
      default:
        return of(Type::Kind::kAny);
    }
  }
  template <class Elements>
  static Type common_type(const Elements& elements, const Type& declared) {
    if (declared.kind != Type::Kind::kAny || elements.empty()) return declared;
    const Type first = type_of_value(IValue(*elements.begin()));
    for (const auto& e : elements)
      if (type_of_value(IValue(e)).str() != first.str()) return declared;
    return first;
  }

  template <class Elements>
  Value list(const void* identity, const Elements& elements, const Type& type, size_t depth) {
    return once(identity, [&] {
      const bool declared = type.kind == Type::Kind::kList;
      const Type element = common_type(elements, declared ? type.elements[0] : Type());
      std::vector<Value> items;
      for (const auto& e : elements) items.push_back(value(IValue(e), element, depth + 1));
      Value out = Value::list(std::move(items));
      forms_.set_type(out, {Type::Kind::kList, "", {element}});
      return out;
    });
  }
  Value tuple(const ivalue::Tuple& t, const Type& type, size_t depth) {
    return once(&t, [&] {
      const bool declared = type.kind == Type::Kind::kTuple && type.elements.size() == t.size();
      std::vector<Value> items;
      for (size_t i = 0; i < t.size(); ++i)
        items.push_back(value(t.elements()[i], declared ? type.elements[i] : Type(), depth + 1));
      return Value::tuple(std::move(items));
    });
  }
  Value dict(const ivalue::DictElements& d, const Type& type, size_t depth) {
    return once(&d, [&] {
      const bool declared = type.kind == Type::Kind::kDict;
      std::vector<IValue> keys, values;
      for (const auto& [k, v] : d.entries) keys.push_back(k), values.push_back(v);
      const Type of_keys = common_type(keys, declared ? type.elements[0] : Type()),
                 of_values = common_type(values, declared ? type.elements[1] : Type());
      Value out = Value::dict();
      for (size_t i = 0; i < keys.size(); ++i)
        out.set(value(keys[i], of_keys, depth + 1), value(values[i], of_values, depth + 1));
      forms_.set_type(out, {Type::Kind::kDict, "", {of_keys, of_values}});
      return out;
    });
  }
  Value object(const ObjectPtr& o, size_t depth) {
    return once(o.get(), [&] {
      const Object& from = static_cast<const Object&>(*o);
      Value out = Value::with_text(Value::Kind::kObject, from.type_name());
      const std::vector<Attribute>& attributes = from.type().attributes;
      for (uint32_t i = 0; i < attributes.size(); ++i)
        out.set(attributes[i].name, value(from.place(i), attributes[i].type, depth + 1));
      return out;
    });
  }

  Forms& forms_;
  std::map<const void*, Value> done_;
};

Program& program_of(const ObjectPtr& module) { return *static_cast<const Object&>(*module).type().program; }

// Whether load() finds a file of this name: one that leads to no other folder.
bool is_file_name(const std::string& name) {
  const std::string path = "/" + name + "/";
  return io::is_utf8(name) && name.find('\0') == std::string::npos && path.find("//") == std::string::npos &&
         path.find("/../") == std::string::npos;
}

std::string folder_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1), folder = name.substr(0, name.rfind('.'));
  return folder.empty() || folder == "." || folder == ".." || !io::is_utf8(folder) ? "archive" : folder;
}

}  // namespace

ArchiveImage::ArchiveImage(const Module& module, const ExtraFilesMap& extra_files)
    : module_(module._ivalue()), extra_files_(extra_files) {
  for (const auto& [name, content] : extra_files_)
    ARGAND_CHECK(ValueError, is_file_name(name), "torch::jit::Module::save: an extra file of the name '", name, "'");
  const Program& program = program_of(module_);
  version_ = program.version();
  const auto record = [](auto fill) {
    Forms forms;
    Values values(forms);
    const Value root = fill(values);
    std::string pickle = io::write_pickle(root, forms);
    return Record{std::move(pickle), forms.storages()};
  };
  constants_ = record([&](Values& values) {
    std::vector<Value> items;
    for (const IValue& c : program.constants) items.push_back(values.value(c, Type()));
    return Value::tuple(std::move(items));
  });
  data_ = record([&](Values& values) { return values.value(IValue(module_), Type()); });
}

void ArchiveImage::write(const std::string& folder, const std::function<void(const void*, size_t)>& write) const {
  // From version 6 on the number stands where readers of older formats do not find it.
  constexpr int64_t kFirstWithFolder = 6;
  io::ZipWriter zip(folder, write);
  for (const auto& [name, content] : std::map<std::string, std::string>(extra_files_.begin(), extra_files_.end()))
    zip.add("extra/" + name, content);
  io::add_storages(zip, "data", data_.storages);
  zip.add("data.pkl", data_.pickle);
  for (const auto& [name, text] : program_of(module_).texts()) zip.add(name, text);
  io::add_storages(zip, "constants", constants_.storages);
  zip.add("constants.pkl", constants_.pickle);
  zip.add(version_ < kFirstWithFolder ? "version" : ".data/version", str(version_, "\n"));
  zip.add("byteorder", "little");
  zip.finish();
}

void Module::save(std::ostream& out, const ExtraFilesMap& extra_files) const {
  ArchiveImage(*this, extra_files).write("archive", [&](const void* data, size_t count) {
    out.write(static_cast<const char*>(data), static_cast<std::streamsize>(count));
  });
  ARGAND_CHECK(IoError, out.good(), "torch::jit::Module::save: the stream cannot be written");
}

void Module::save(const std::string& filename, const ExtraFilesMap& extra_files) const {
  const ArchiveImage image(*this, extra_files);
  io::AtomicFile file(filename);
  image.write(folder_of(filename), [&](const void* data, size_t count) { file.write(data, count); });
  file.commit();
}

}  // namespace argand::jit
