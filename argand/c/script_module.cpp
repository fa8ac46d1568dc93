// Modules of TorchScript archives as modules of the C interface.
#include <map>
#include <sstream>

#include "argand/base/str.h"
#include "argand/c/module.h"
#include "argand/c/value.h"
#include "argand/io/torch_archive.h"
#include "argand/jit/function.h"
#include "argand/jit/load.h"
#include "argand/nn/load_state.h"

using namespace argand;
using namespace argand::c;

namespace {

StateDict dict_of(const std::vector<jit::Named<Tensor>>& tensors) {
  StateDict out;
  for (const auto& [name, tensor] : tensors) out.insert(name, tensor);
  return out;
}

std::string text_of(const jit::Parameter& parameter) {
  std::ostringstream out;
  out << parameter.name << ": " << parameter.type.str();
  if (!parameter.has_default) return out.str();
  out << '=';
  if (parameter.value.isString())
    out << '\'' << parameter.value << '\'';
  else
    out << parameter.value;
  return out.str();
}

// The module to which the name leads, and the last part of the name.
std::pair<jit::Module, std::string> place_of(const jit::Module& from, std::string_view name) {
  jit::Module module = from;
  for (size_t dot; (dot = name.find('.')) != name.npos; name.remove_prefix(dot + 1)) {
    const IValue inner = module.attr(std::string(name.substr(0, dot)));
    ARGAND_CHECK(ValueError, inner.isModule(), "'", name.substr(0, dot), "' of ", module.type()->str(),
                 " is no module: expected one before a dot");
    module = inner.toModule();
  }
  return {module, std::string(name)};
}

class ScriptModule final : public AnyModule {
 public:
  explicit ScriptModule(jit::Module module) : module_(std::move(module)) {}

  std::string type_name() const override { return module_.type()->str(); }
  std::vector<std::string> names(argand_module_part part) const override {
    std::vector<std::string> out;
    if (part == ARGAND_METHODS)
      for (const jit::Method& m : module_.get_methods()) out.push_back(m.name());
    if (part == ARGAND_ATTRIBUTES)
      for (const auto& a : module_.named_attributes(/*recurse=*/false))
        if (!a.value.isModule()) out.push_back(a.name);
    if (part == ARGAND_CHILDREN)
      for (const auto& m : module_.named_children()) out.push_back(m.name);
    return out;
  }
  std::string signature(const std::string& method) const override {
    const jit::Method found = module_.get_method(method);
    const jit::Function& f = found.function();
    std::string out = method + "(", before;
    bool keywords = false;
    for (size_t i = 1; i < f.parameters().size(); ++i) {  // without self
      const jit::Parameter& p = f.parameters()[i];
      if (p.keyword_only && !keywords) out += before + "*", before = ", ", keywords = true;
      out += before + text_of(p);
      before = ", ";
    }
    return out + ") -> " + f.result().str();
  }
  IValue call(const std::string& method, std::vector<IValue> arguments,
              const std::unordered_map<std::string, IValue>& named) override {
    return module_.get_method(method)(std::move(arguments), named);
  }
  IValue get(const std::string& name) const override {
    const auto [module, last] = place_of(module_, name);
    return module.attr(last);
  }
  void set(const std::string& name, IValue value) override {
    const auto [module, last] = place_of(module_, name);
    module.setattr(last, std::move(value));
  }
  std::unique_ptr<AnyModule> child(const std::string& name) const override {
    const IValue found = get(name);
    ARGAND_CHECK(ValueError, found.isModule(), "argand_module_child: '", name, "' of ", type_name(), " is no module");
    return std::make_unique<ScriptModule>(found.toModule());
  }
  void train(bool on) override { module_.train(on); }
  bool is_training() const override { return module_.is_training(); }
  void to(std::optional<Device> device, std::optional<ScalarType> dtype) override {
    if (device && dtype)
      module_.to(*device, *dtype);
    else if (dtype)
      module_.to(*dtype);
    else if (device)
      module_.to(*device);
  }
  void fuse() override {
    ARGAND_THROW(NotImplementedError, "argand_module_fuse: expected a published network, got ", type_name(),
                 ", whose program runs as it is");
  }
  StateDict parameters() const override { return dict_of(module_.named_parameters()); }
  StateDict buffers() const override { return dict_of(module_.named_buffers()); }
  StateDict state_dict() const override {
    StateDict out;
    for (const auto& item : state()) out.insert(item.key(), item.value().detach());
    return out;
  }
  void load_state_dict(const StateDict& given, bool strict) override {
    nn::load_state(state(), given, strict, type_name());
  }

 private:
  // Parameters and buffers of each module in turn.
  StateDict state() const {
    StateDict out;
    for (const auto& [prefix, module] : module_.named_modules())
      for (const auto& tensors : {module.named_parameters(false), module.named_buffers(false)})
        for (const auto& [name, tensor] : tensors)
          if (tensor.defined()) out.insert(prefix.empty() ? name : str(prefix, ".", name), tensor);
    return out;
  }
  const jit::Module module_;
};

void load(const io::ByteSource& source, argand_device device, argand_named_value* extra_files, size_t num_extra_files,
          argand_module** result, const char* function) {
  std::optional<Device> to;
  if (device.type != ARGAND_DEVICE_NONE) to = to_device(device, function);
  needed(result, function, "result");
  for (const argand_named_value& f : needed(extra_files, num_extra_files, function, "extra_files"))
    needed(f.name, function, "the name of an extra file");
  auto module = std::make_unique<ScriptModule>(jit::load(source, to));
  std::map<std::string, std::string> files;
  if (num_extra_files > 0)
    files = io::TorchArchive(source, io::LoadOptions()).files("extra/", jit::ArchiveLimits().extra_bytes);
  std::vector<ArgumentValue> texts(num_extra_files);
  for (size_t i = 0; i < num_extra_files; ++i)
    if (const auto found = files.find(std::string("extra/") + extra_files[i].name); found != files.end())
      texts[i] = found->second;
  std::vector<argand_value> values(num_extra_files);
  write_results(texts, values.data(), num_extra_files, nullptr, function);
  try {
    give(result, function, std::move(module));
  } catch (...) {
    argand_values_free(values.data(), values.size());
    throw;
  }
  for (size_t i = 0; i < num_extra_files; ++i) extra_files[i].value = values[i];
}

}  // namespace

argand_error* argand_module_load(const char* path, argand_device device, argand_named_value* extra_files,
                                 size_t num_extra_files, argand_module** result) {
  return guarded([&] {
    const char* const function = "argand_module_load";
    load(io::InputFile(&needed(path, function, "path")), device, extra_files, num_extra_files, result, function);
  });
}

argand_error* argand_module_load_bytes(const void* bytes, size_t size, argand_device device,
                                       argand_named_value* extra_files, size_t num_extra_files,
                                       argand_module** result) {
  return guarded([&] {
    const char* const function = "argand_module_load_bytes";
    const ArrayRef<char> all = needed(static_cast<const char*>(bytes), size, function, "bytes");
    load(io::MemorySource("memory", std::string_view(all.data(), all.size())), device, extra_files, num_extra_files,
         result, function);
  });
}
