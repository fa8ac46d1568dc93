#include "argand/jit/load.h"

#include <istream>
#include <iterator>

#include "argand/autograd/dict.h"
#include "argand/autograd/list.h"
#include "argand/autograd/typed_list.h"
#include "argand/io/format_error.h"
#include "argand/io/torch_archive.h"
#include "argand/io/torch_names.h"
#include "argand/jit/builtins.h"
#include "argand/jit/class.h"
#include "argand/jit/dtype_numbers.h"
#include "argand/jit/program.h"
#include "argand/serialize/pickle.h"

namespace argand::jit {

namespace {

using Value = io::Value;

// From the values of a pickle to those of a program.  What is shared in the file is shared in the program.
class Builder {
 public:
  Builder(Program& program, bool takes_objects) : program_(program), takes_objects_(takes_objects) {}

  IValue build(const Value& v, const Type& type) {
    IValue out = once(v, type);
    const std::string kind = out.tagKind();
    ARGAND_CHECK(ValueError, conform(out, type), "expected a value of type ", type.str(), ", got one of type ", kind);
    return out;
  }

 private:
  IValue once(const Value& v, const Type& type) {
    if (!v.identity() || v.is_tensor()) return make(v, type);
    const auto known = done_.find(v.identity());
    if (known != done_.end()) return known->second;
    IValue out = make(v, type);
    // An empty list has the kind that its type asks for, so all its users must share that.
    (void)conform(out, type);
    return done_.emplace(v.identity(), std::move(out)).first->second;
  }

  IValue make(const Value& v, const Type& type) {
    using Kind = Value::Kind;
    if (const std::optional<IValue> plain = plain_ivalue(v)) return *plain;
    const Type& inner = type.kind == Type::Kind::kOptional ? type.elements[0] : type;
    switch (v.kind()) {
      case Kind::kDtype:
        return number_of(v.dtype());
      case Kind::kSize:
      case Kind::kList:
        return typed_list(sequence(v, inner.kind == Type::Kind::kList ? inner.elements[0] : Type()));
      case Kind::kTuple:
        return tuple(v, inner);
      case Kind::kDict:
      case Kind::kOrderedDict: {
        const bool typed = inner.kind == Type::Kind::kDict;
        const Dict<IValue, IValue> out;
        for (size_t i = 0; i < v.size(); ++i)
          out.insert(build(v.key(i), typed ? inner.elements[0] : Type()),
                     build(v.value(i), typed ? inner.elements[1] : Type()));
        return out;
      }
      case Kind::kObject:
        return object(v);
      default:
        ARGAND_THROW(ValueError, "no program holds a value of kind ", Value::kind_name(v.kind()));
    }
  }

  std::vector<IValue> sequence(const Value& v, const Type& element) {
    std::vector<IValue> out;
    out.reserve(v.size());
    for (size_t i = 0; i < v.size(); ++i) out.push_back(build(v[i], element));
    return out;
  }

  IValue tuple(const Value& v, const Type& type) {
    std::vector<IValue> elements;
    for (size_t i = 0; i < v.size(); ++i)
      elements.push_back(
          build(v[i], type.kind == Type::Kind::kTuple && type.elements.size() == v.size() ? type.elements[i] : Type()));
    if (type.kind != Type::Kind::kClass) return ivalue::Tuple::create(std::move(elements));
    const std::shared_ptr<const Class> named = program_.find_class(type.name);
    ARGAND_CHECK(ValueError, named && named->fields && named->fields->fields.size() == elements.size(), "a tuple of ",
                 elements.size(), " elements is no ", type.name);
    return ivalue::Tuple::createNamed(std::move(elements), named->fields);
  }

  IValue object(const Value& v) {
    // An object keeps its program, so a program that kept an object would never be freed.
    ARGAND_CHECK(ValueError, takes_objects_, "a constant that is an object");
    const std::shared_ptr<const Class> type = program_.find_class(v.text());
    ARGAND_CHECK(ValueError, type && type->kind != Class::Kind::kNamedTuple && type->kind != Class::Kind::kInterface,
                 "an object of ", v.text(), ", which is no class of the code");
    ARGAND_CHECK(NotImplementedError, type->find_method("__setstate__") == Class::kAbsent, "an object of ", type->name,
                 ", which restores itself with __setstate__; this is not supported");
    const intrusive_ptr<Object> out(new Object(type));
    std::vector<bool> given(type->attributes.size(), false);
    for (size_t i = 0; i < v.size(); ++i) {
      const std::string& name = v.key(i).text();
      const uint32_t at = type->find_attribute(name);
      ARGAND_CHECK(ValueError, at != Class::kAbsent, "an object of ", type->name, " has an attribute '", name,
                   "' that its class does not declare");
      out->place(at) = build(v.value(i), type->attributes[at].type);
      given[at] = true;
    }
    for (size_t i = 0; i < given.size(); ++i) {
      const Attribute& a = type->attributes[i];
      ARGAND_CHECK(ValueError, given[i] || a.type.kind == Type::Kind::kOptional || a.type.kind == Type::Kind::kNone,
                   "an object of ", type->name, " lacks the attribute '", a.name, "'");
      if (a.is_parameter && out->place(static_cast<uint32_t>(i)).isTensor())
        check_parameter(out->place(static_cast<uint32_t>(i)));
    }
    return ObjectPtr(out);
  }
  static void check_parameter(const IValue& v) {
    ARGAND_CHECK(ValueError, v.toTensor().defined(), "a parameter without elements");
  }

  Program& program_;
  const bool takes_objects_;
  std::unordered_map<const void*, IValue> done_;
};

Value read(const io::TorchArchive& archive, const char* record, const char* storages, const io::LoadOptions& options) {
  io::TorchNames names([&](const io::StorageRequest& request) { return archive.storage(request, storages); }, true,
                       options.max_tensors);
  io::PickleLimits limits = options.pickle;
  limits.tree_bytes += static_cast<size_t>(archive.source().size());
  return io::read_pickle(archive.record(record), names, {archive.source().path(), record}, limits);
}

// Faults of what a pickle holds, found when the program's classes are compared with it, are faults of the file.
template <class F>
auto in_record(const io::ByteSource& source, const char* record, F f) {
  try {
    return f();
  } catch (const SyntaxError&) {
    throw;
  } catch (const ValueError& e) {
    throw io::FormatError(source.path(), record, 0, e.msg());
  }
}

std::string all_of(std::istream& in) {
  std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  ARGAND_CHECK(IoError, !in.bad(), "torch::jit::load: the stream cannot be read");
  return bytes;
}

// What _save_for_lite_interpreter writes with _use_flatbuffer=True.
bool is_flatbuffer(const io::ByteSource& source) {
  char name[4] = {};
  if (source.size() < 8) return false;
  source.read(4, name, sizeof(name));
  return std::string_view(name, sizeof(name)) == "PTMF";
}

Program& program_of(const Module& module) { return *static_cast<const Object&>(*module._ivalue()).type().program; }

}  // namespace

Module load(const io::ByteSource& source, std::optional<Device> device, ExtraFilesMap* extra_files,
            const ArchiveLimits& limits) {
  io::LoadOptions options;
  if (device) options.map_location = [device](const std::string&) { return *device; };
  if (!io::ZipDirectory::begins(source))
    throw io::FormatError(source.path(), "", 0,
                          is_flatbuffer(source)
                              ? "this is a flatbuffer for mobile devices, which is not read; save the "
                                "module without _use_flatbuffer"
                              : "this is no archive of TorchScript");
  const io::TorchArchive archive(source, options);
  if (!archive.is_script())
    throw io::FormatError(source.path(), "constants.pkl", 0,
                          "there is no such record: the archive holds data, and no program");
  const std::shared_ptr<Program> program = Program::make(archive.files("code/", limits.code_bytes), archive.version());
  const Value constants = read(archive, "constants.pkl", "constants", options);
  in_record(source, "constants.pkl", [&] {
    ARGAND_CHECK(ValueError, constants.kind() == Value::Kind::kTuple, "expected a tuple");
    Builder builder(*program, false);
    for (size_t i = 0; i < constants.size(); ++i) program->constants.push_back(builder.build(constants[i], Type()));
    return 0;
  });
  const Value data = read(archive, "data.pkl", "data", options);
  Module out = in_record(source, "data.pkl", [&] {
    const IValue root = Builder(*program, true).build(data, Type());
    ARGAND_CHECK(ValueError, root.isModule(), "expected a module");
    return root.toModule();
  });
  if (extra_files)
    for (auto& [name, content] : archive.files("extra/", limits.extra_bytes))
      if (const auto wanted = extra_files->find(name.substr(6)); wanted != extra_files->end()) wanted->second = content;
  return out;
}

// harmless: debug files hold where the code was written, which messages do not tell
Module load(const std::string& filename, std::optional<Device> device, bool) {
  return load(io::InputFile(filename), device);
}
// harmless: as above
Module load(const std::string& filename, std::optional<Device> device, ExtraFilesMap& extra_files, bool) {
  return load(io::InputFile(filename), device, &extra_files);
}
// harmless: as above
Module load(std::istream& in, std::optional<Device> device, bool) {
  const std::string bytes = all_of(in);
  return load(io::MemorySource("stream", bytes), device);
}
// harmless: as above
Module load(std::istream& in, std::optional<Device> device, ExtraFilesMap& extra_files, bool) {
  const std::string bytes = all_of(in);
  return load(io::MemorySource("stream", bytes), device, &extra_files);
}

std::vector<std::string> code_files(const Module& module) {
  std::vector<std::string> out;
  for (const auto& [name, text] : program_of(module).texts())
    if (name.ends_with(".py")) out.push_back(name);
  return out;
}
std::string code_text(const Module& module, const std::string& name) {
  const auto& texts = program_of(module).texts();
  const auto it = texts.find(name);
  ARGAND_CHECK(ValueError, it != texts.end(), "the module has no file ", name);
  return it->second;
}
void compile_all(const Module& module) { program_of(module).compile_all(); }

}  // namespace argand::jit
