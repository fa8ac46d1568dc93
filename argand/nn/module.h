// The base of all layers and models, with the names and semantics of LibTorch's torch::nn::Module.
//
// A module owns parameters (which train), buffers (which do not) and submodules, each under a name without dots.  Names
// of nested ones are joined with dots: "conv1.weight". Thread safety: reading from several threads is safe while nobody
// changes the module.
#pragma once
#include <functional>
#include <memory>
#include <ostream>

#include "argand/base/shared.h"
#include "argand/core/state_dict.h"

namespace argand::serialize {
class InputArchive;
class OutputArchive;
}  // namespace argand::serialize

namespace argand::nn {

class Module : public std::enable_shared_from_this<Module> {
 public:
  using ModuleApplyFunction = std::function<void(Module&)>;
  using ConstModuleApplyFunction = std::function<void(const Module&)>;
  using NamedModuleApplyFunction = std::function<void(const std::string&, Module&)>;
  using ConstNamedModuleApplyFunction = std::function<void(const std::string&, const Module&)>;
  using ModulePointerApplyFunction = std::function<void(const std::shared_ptr<Module>&)>;
  using NamedModulePointerApplyFunction = std::function<void(const std::string&, const std::shared_ptr<Module>&)>;

  explicit Module(std::string name);
  Module();  // named after its type
  Module(const Module&);
  Module& operator=(const Module&);
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  virtual ~Module();

  const std::string& name() const;
  // A deep copy; Cloneable<T> implements it.
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const;

  // Runs on this module and all below it, parents first.
  void apply(const ModuleApplyFunction& f);
  void apply(const ConstModuleApplyFunction& f) const;
  void apply(const NamedModuleApplyFunction& f, const std::string& prefix = {});
  void apply(const ConstNamedModuleApplyFunction& f, const std::string& prefix = {}) const;
  // ValueError unless the module is held by a shared_ptr.
  void apply(const ModulePointerApplyFunction& f) const;
  void apply(const NamedModulePointerApplyFunction& f, const std::string& prefix = {}) const;

  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;
  // This module first; needs the module to be held by a shared_ptr if include_self.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(const std::string& prefix = {},
                                                                  bool include_self = true) const;
  std::vector<std::shared_ptr<Module>> children() const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const;

  virtual void train(bool on = true);
  void eval() { train(false); }
  virtual bool is_training() const noexcept { return is_training_; }

  // Converts all parameters to the dtype, and those buffers that are of floating point.
  virtual void to(Device device, ScalarType dtype, bool non_blocking = false);
  virtual void to(ScalarType dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);
  virtual void zero_grad(bool set_to_none = true);

  // Returns detached tensors that share the module's memory.
  StateDict state_dict() const;
  // Copies into parameters and buffers.  Everything is checked first: one ValueError lists all missing, unexpected and
  // misshaped names, and then nothing has changed.  Without `strict`, missing and unexpected names are passed over.
  void load_state_dict(const StateDict& state, bool strict = true);

  // Saves parameters, buffers and submodules by name into an archive, and loads them from an archive of such a module.
  // Loading also takes over dtypes, and the device if the archive was loaded to a device or its contents were saved on
  // a GPU.  ValueError for a missing entry or another shape; then some tensors may have changed.  A module that is not
  // serializable is left out of its parent's archive.
  virtual bool is_serializable() const { return true; }
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);

  virtual void pretty_print(std::ostream& stream) const;

  // Casts to the module type T, or to the module type that the handle type T holds; null if the type differs.
  template <class T, class = std::enable_if_t<std::is_base_of_v<Module, T>>>
  T* as() noexcept {
    return dynamic_cast<T*>(this);
  }
  template <class T, class = std::enable_if_t<std::is_base_of_v<Module, T>>>
  const T* as() const noexcept {
    return dynamic_cast<const T*>(this);
  }

  template <class Holder>
  typename Holder::ContainedType* as() noexcept {
    return as<typename Holder::ContainedType>();
  }
  template <class Holder>
  const typename Holder::ContainedType* as() const noexcept {
    return as<typename Holder::ContainedType>();
  }

  // An undefined tensor keeps the place of an absent parameter (a Linear without bias).
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  Tensor& register_buffer(std::string name, Tensor tensor);
  template <class M>
  std::shared_ptr<M> register_module(const std::string& name, std::shared_ptr<M> module) {
    add_module(name, module);
    return module;
  }
  template <class Holder, class = typename Holder::ContainedType>
  Holder register_module(const std::string& name, Holder holder) {
    add_module(name, holder.ptr());
    return holder;
  }
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, std::shared_ptr<M> module) {
    set_module(name, module);
    return module;
  }
  template <class Holder, class = typename Holder::ContainedType>
  Holder replace_module(const std::string& name, Holder holder) {
    set_module(name, holder.ptr());
    return holder;
  }
  void unregister_module(const std::string& name);

 protected:
  OrderedDict<std::string, Tensor> parameters_{"Parameter"};
  OrderedDict<std::string, Tensor> buffers_{"Buffer"};
  OrderedDict<std::string, std::shared_ptr<Module>> children_{"Submodule"};

 private:
  template <class Derived>
  friend class Cloneable;
  // Makes this a deep copy of `other`, which has the same type; Cloneable<T> implements it.
  virtual void clone_(Module& other, const std::optional<Device>& device);
  // Takes over a copy of a module and drops its tensors and children, which reset() makes anew.
  static std::shared_ptr<Module> cleared(Module* copy);
  // Copies all tensors and children of `from`, name by name.
  void take_values_of(const Module& from, const std::optional<Device>& device);
  void add_module(std::string name, std::shared_ptr<Module> module);
  void set_module(const std::string& name, std::shared_ptr<Module> module);
  void each_tensor(const std::string& prefix,
                   const std::function<void(const std::string&, Tensor&, bool is_parameter)>& f) const;
  void convert(std::optional<Device> device, std::optional<ScalarType> dtype, bool non_blocking);

  mutable std::optional<std::string> name_;
  bool is_training_ = true;
};

std::ostream& operator<<(std::ostream& stream, const Module& module);

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Module& module);
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const std::shared_ptr<Module>& module);
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Module& module);
serialize::InputArchive& operator>>(serialize::InputArchive& archive, const std::shared_ptr<Module>& module);

// Gives a module type clone(): a new object is made from the type's reset() and takes over copies of all tensors.
// ARGAND_SHARED, because the library itself defines it for modules of the library (ARGAND_LIBRARY_MODULE).
template <class Derived>
class ARGAND_SHARED Cloneable : public Module {
 public:
  using Module::Module;
  // (Re)makes parameters, buffers and submodules from the options.
  virtual void reset() = 0;

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    // Code that is the same for all types is elsewhere: each line here is compiled for 130 modules in every user's
    // program.
    auto* derived = new Derived(static_cast<const Derived&>(*this));
    std::shared_ptr<Module> copy = cleared(derived);
    derived->reset();
    copy->take_values_of(*this, device);
    return copy;
  }

 private:
  void clone_(Module& other, const std::optional<Device>& device) final {
    static_cast<Derived&>(*this) = static_cast<Derived&>(*other.clone(device));
  }
};

}  // namespace argand::nn
