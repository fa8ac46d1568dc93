// Modules of TorchScript archives, with the names of LibTorch's torch::jit::Module.  A handle: copies are the same
// module.
//
//   jit::Module net = jit::load("net.pt");
//   Tensor y = net.forward({x}).toTensor();
//
// Errors of a program say where they happened: file and line of the archive's code for each call that led there.
// Thread safety: several threads may call methods of one module at once, as far as the methods change no attribute.
#pragma once
#include <iosfwd>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "argand/autograd/ivalue.h"

namespace argand::jit {

class Function;

using Stack = std::vector<IValue>;
using Kwargs = std::unordered_map<std::string, IValue>;
using ExtraFilesMap = std::unordered_map<std::string, std::string>;
using ObjectPtr = intrusive_ptr<ivalue::Object>;

// "__torch__.torchvision.models.resnet.ResNet" and its last part.
class QualifiedName {
 public:
  QualifiedName(std::string name) : name_(std::move(name)) {}
  const std::string& qualifiedName() const { return name_; }
  std::string name() const { return name_.substr(name_.rfind('.') + 1); }

 private:
  std::string name_;
};
class ClassType {
 public:
  explicit ClassType(std::string name) : name_(std::move(name)) {}
  std::optional<QualifiedName> name() const { return name_; }
  const std::string& str() const { return name_.qualifiedName(); }

 private:
  QualifiedName name_;
};

// A name joined with dots from the module that was asked, and what it names.
template <class T>
struct Named {
  std::string name;
  T value;
};

class Method {
 public:
  Method(ObjectPtr owner, const Function& function) : owner_(std::move(owner)), function_(&function) {}
  const std::string& name() const;
  // ValueError unless the arguments fit the method's parameters.
  IValue operator()(std::vector<IValue> stack, const Kwargs& kwargs = {}) const;
  size_t num_inputs() const;  // with the module itself
  const Function& function() const { return *function_; }

 private:
  ObjectPtr owner_;
  const Function* function_;
};

class Module {
 public:
  Module() = default;  // of no module: all members throw ValueError
  // ValueError unless it is a module of TorchScript.
  explicit Module(ObjectPtr object);
  const ObjectPtr& _ivalue() const;
  std::shared_ptr<ClassType> type() const;

  IValue forward(std::vector<IValue> inputs, const Kwargs& kwargs = {}) const {
    return get_method("forward")(std::move(inputs), kwargs);
  }
  IValue operator()(std::vector<IValue> inputs, const Kwargs& kwargs = {}) const {
    return forward(std::move(inputs), kwargs);
  }
  Method get_method(const std::string& name) const;  // ValueError if there is none
  std::optional<Method> find_method(const std::string& name) const;
  std::vector<Method> get_methods() const;
  template <class... T>
  IValue run_method(const std::string& name, T&&... arguments) const {
    return get_method(name)({IValue(std::forward<T>(arguments))...});
  }

  // Attributes, parameters, buffers, submodules and constants by their names.  ValueError if there is none.
  IValue attr(const std::string& name) const;
  IValue attr(const std::string& name, IValue otherwise) const;
  bool hasattr(const std::string& name) const;
  void setattr(const std::string& name, IValue value) const;  // ValueError unless it is of the declared type

  // These return the tensors of this module and of those below, in the order of their declaration; each tensor once.
  std::vector<Named<Tensor>> named_parameters(bool recurse = true) const;
  std::vector<Named<Tensor>> named_buffers(bool recurse = true) const;
  std::vector<Tensor> parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  std::vector<Named<IValue>> named_attributes(bool recurse = true) const;
  std::vector<Named<Module>> named_children() const;
  std::vector<Module> children() const;
  std::vector<Named<Module>> named_modules() const;  // this one first, whose name is empty
  std::vector<Module> modules() const;

  // A dtype converts parameters and buffers of floating point.
  void to(Device device, ScalarType dtype, bool non_blocking = false) const;
  void to(ScalarType dtype, bool non_blocking = false) const;
  void to(Device device, bool non_blocking = false) const;
  void train(bool on = true) const;
  void eval() const { train(false); }
  bool is_training() const;
  void zero_grad() const;

  Module copy() const;      // a new object whose attributes are the same
  Module deepcopy() const;  // everything is copied; what was shared inside is shared in the copy
  Module clone(bool inplace = false) const { return inplace ? copy() : deepcopy(); }

  // Writes an archive of TorchScript, which PyTorch reads, too (argand/jit/save.h).  `extra_files`: the contents of
  // files in it by their names.  A file gets its new content whole or not at all.
  void save(const std::string& filename, const ExtraFilesMap& extra_files = {}) const;
  void save(std::ostream& out, const ExtraFilesMap& extra_files = {}) const;

  friend bool operator==(const Module& a, const Module& b) { return a.object_.get() == b.object_.get(); }

 private:
  void convert(std::optional<Device> device, std::optional<ScalarType> dtype, bool non_blocking) const;
  ObjectPtr object_;
};

// A module of which only forward() and what `preserved_attrs` names is left: attributes that never change are constants
// of its program, and branches that are never taken are gone (Note [Freezing]).  It has no parameters.  ValueError for
// a module in training mode, and for a name that it does not have; NotImplementedError for a program that passes
// modules as values.
Module freeze(const Module& module, const std::optional<std::vector<std::string>>& preserved_attrs = std::nullopt,
              bool optimize_numerics = true);
// freeze() that keeps these methods, too.
Module optimize_for_inference(const Module& module, const std::vector<std::string>& other_methods = {});

namespace script {
using jit::ExtraFilesMap;
using jit::Method;
using jit::Module;
}  // namespace script

}  // namespace argand::jit
