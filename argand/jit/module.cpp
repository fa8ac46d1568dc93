#include "argand/jit/module.h"

#include <functional>
#include <unordered_set>

#include "argand/autograd/dict.h"
#include "argand/autograd/list.h"
#include "argand/core/grad_mode.h"
#include "argand/jit/class.h"
#include "argand/jit/function.h"
#include "argand/ops/functions.h"

namespace argand {

jit::Module IValue::toModule() const { return jit::Module(toObject()); }

namespace jit {

namespace {

Object& as_object(const ObjectPtr& object) { return static_cast<Object&>(*object); }

// Visits the attributes of a module and of those below it, each module once; the module itself first.
class Visitor {
 public:
  using OnModule = std::function<void(const std::string& name, const ObjectPtr&)>;
  using OnAttribute = std::function<void(const std::string& name, const Attribute&, IValue&)>;
  Visitor(OnModule on_module, OnAttribute on_attribute, bool recurse)
      : on_module_(std::move(on_module)), on_attribute_(std::move(on_attribute)), recurse_(recurse) {}

  void visit(const ObjectPtr& module, const std::string& prefix = "", size_t depth = 0) {
    if (!seen_.insert(module.get()).second) return;
    ARGAND_CHECK(ValueError, depth < kMaxDepth, "modules nested deeper than ", kMaxDepth);
    if (on_module_) on_module_(prefix, module);
    Object& object = as_object(module);
    const auto name_of = [&](const Attribute& a) { return prefix.empty() ? a.name : prefix + "." + a.name; };
    const std::vector<Attribute>& attributes = object.type().attributes;
    for (uint32_t i = 0; i < attributes.size(); ++i)
      if (on_attribute_ && !object.place(i).isModule())
        on_attribute_(name_of(attributes[i]), attributes[i], object.place(i));
    if (!recurse_) return;
    for (uint32_t i = 0; i < attributes.size(); ++i)
      if (object.place(i).isModule()) visit(object.place(i).toObject(), name_of(attributes[i]), depth + 1);
  }

 private:
  static constexpr size_t kMaxDepth = 256;
  const OnModule on_module_;
  const OnAttribute on_attribute_;
  const bool recurse_;
  std::unordered_set<const void*> seen_;
};

void each_module(const ObjectPtr& module, Visitor::OnModule f) { Visitor(std::move(f), nullptr, true).visit(module); }
void each_attribute(const ObjectPtr& module, bool recurse, Visitor::OnAttribute f) {
  Visitor(nullptr, std::move(f), recurse).visit(module);
}

std::vector<Named<Tensor>> tensors_of(const ObjectPtr& module, bool recurse, bool Attribute::*wanted) {
  std::vector<Named<Tensor>> out;
  std::unordered_set<const void*> seen;
  each_attribute(module, recurse, [&](const std::string& name, const Attribute& a, IValue& v) {
    if (a.*wanted && v.isTensor() && seen.insert(v.toTensor().unsafeGetTensorImpl()).second)
      out.push_back({name, v.toTensor()});
  });
  return out;
}

template <class T>
std::vector<T> without_names(std::vector<Named<T>> named) {
  std::vector<T> out;
  for (Named<T>& n : named) out.push_back(std::move(n.value));
  return out;
}

// Deep copies; what is reached twice is copied once.
class Copier {
 public:
  IValue copy(const IValue& v, size_t depth = 0) {
    ARGAND_CHECK(ValueError, depth < kMaxDepth, "deepcopy: values nested deeper than ", kMaxDepth);
    switch (v.kind()) {
      case IValue::Kind::kTensor:
        return tensor(v.toTensor());
      case IValue::Kind::kIntList:
        return once(v.toIntList().elements().get(), [&] { return IValue(v.toIntVector()); });
      case IValue::Kind::kDoubleList:
        return once(v.toDoubleList().elements().get(), [&] { return IValue(v.toDoubleVector()); });
      case IValue::Kind::kTensorList: {
        return once(v.toTensorList().elements().get(), [&] {
          std::vector<Tensor> out;
          for (const Tensor& t : v.toTensorVector()) out.push_back(tensor(t).toTensor());
          return IValue(std::move(out));
        });
      }
      case IValue::Kind::kList:
        return once(&v.toListRef(), [&] { return IValue(all(v.toListRef(), depth)); });
      case IValue::Kind::kTuple: {
        const ivalue::Tuple& t = v.toTupleRef();
        std::shared_ptr<const ivalue::Tuple::Names> names;
        if (t.names()) names = std::make_shared<ivalue::Tuple::Names>(*t.names());
        return ivalue::Tuple::createNamed(all(t.elements(), depth), std::move(names));
      }
      case IValue::Kind::kDict:
        return once(v.dict_elements().get(), [&] {
          const Dict<IValue, IValue> out;
          for (const auto& [key, value] : v.dict_elements()->entries)
            out.insert(copy(key, depth + 1), copy(value, depth + 1));
          return IValue(out);
        });
      case IValue::Kind::kObject:
        return object(v.toObject(), depth);
      default:
        return v;
    }
  }

 private:
  static constexpr size_t kMaxDepth = 256;
  template <class Make>
  IValue once(const void* identity, Make make) {
    const auto known = done_.find(identity);
    if (known != done_.end()) return known->second;
    return done_.emplace(identity, make()).first->second;
  }
  IValue tensor(const Tensor& t) {
    if (!t.defined()) return t;
    return once(t.unsafeGetTensorImpl(), [&] {
      const Tensor out = t.detach().clone();
      out.set_requires_grad(t.requires_grad());
      return IValue(out);
    });
  }
  std::vector<IValue> all(const std::vector<IValue>& elements, size_t depth) {
    std::vector<IValue> out;
    for (const IValue& e : elements) out.push_back(copy(e, depth + 1));
    return out;
  }
  IValue object(const ObjectPtr& from, size_t depth) {
    const auto known = done_.find(from.get());
    if (known != done_.end()) return known->second;
    const intrusive_ptr<Object> to(new Object(as_object(from).shared_type()));
    const IValue out{ObjectPtr(to)};
    done_.emplace(from.get(), out);  // before its attributes, which may refer to it
    for (uint32_t i = 0; i < to->type().attributes.size(); ++i)
      to->place(i) = copy(as_object(from).place(i), depth + 1);
    return out;
  }
  std::unordered_map<const void*, IValue> done_;
};

}  // namespace

// ---- methods

const std::string& Method::name() const { return function_->short_name(); }
size_t Method::num_inputs() const { return function_->parameters().size(); }
IValue Method::operator()(std::vector<IValue> stack, const Kwargs& kwargs) const {
  stack.insert(stack.begin(), IValue(owner_));
  return call(*function_, std::move(stack), kwargs);
}

Module::Module(ObjectPtr object) : object_(std::move(object)) {
  ARGAND_CHECK(ValueError, object_ && object_->is_module(), "expected a module of TorchScript");
}
const ObjectPtr& Module::_ivalue() const {
  ARGAND_CHECK(ValueError, object_, "this torch::jit::Module holds no module; load() returns one");
  return object_;
}
std::shared_ptr<ClassType> Module::type() const { return std::make_shared<ClassType>(_ivalue()->type_name()); }

std::optional<Method> Module::find_method(const std::string& name) const {
  const Class& type = as_object(_ivalue()).type();
  const uint32_t i = type.find_method(name);
  if (i == Class::kAbsent) return std::nullopt;
  return Method(object_, *type.methods[i]);
}
Method Module::get_method(const std::string& name) const {
  std::optional<Method> found = find_method(name);
  ARGAND_CHECK(ValueError, found, "Method '", name, "' is not defined in ", object_->type_name());
  return *found;
}
std::vector<Method> Module::get_methods() const {
  std::vector<Method> out;
  for (const auto& f : as_object(_ivalue()).type().methods) out.emplace_back(object_, *f);
  return out;
}

// ---- attributes

IValue Module::attr(const std::string& name) const { return _ivalue()->getAttr(name); }
bool Module::hasattr(const std::string& name) const {
  const Class& type = as_object(_ivalue()).type();
  return type.find_attribute(name) != Class::kAbsent || type.find_constant(name);
}
IValue Module::attr(const std::string& name, IValue otherwise) const {
  return hasattr(name) ? attr(name) : std::move(otherwise);
}
void Module::setattr(const std::string& name, IValue value) const { _ivalue()->setAttr(name, std::move(value)); }

std::vector<Named<Tensor>> Module::named_parameters(bool recurse) const {
  return tensors_of(_ivalue(), recurse, &Attribute::is_parameter);
}
std::vector<Named<Tensor>> Module::named_buffers(bool recurse) const {
  return tensors_of(_ivalue(), recurse, &Attribute::is_buffer);
}
std::vector<Tensor> Module::parameters(bool recurse) const { return without_names(named_parameters(recurse)); }
std::vector<Tensor> Module::buffers(bool recurse) const { return without_names(named_buffers(recurse)); }

std::vector<Named<IValue>> Module::named_attributes(bool recurse) const {
  std::vector<Named<IValue>> out;
  each_attribute(_ivalue(), recurse, [&](const std::string& name, const Attribute&, IValue& v) {
    out.push_back({name, v});
  });
  for (const Named<Module>& m : recurse ? named_modules() : named_children())
    if (!m.name.empty()) out.push_back({m.name, IValue(m.value._ivalue())});
  return out;
}

std::vector<Named<Module>> Module::named_children() const {
  std::vector<Named<Module>> out;
  Object& object = as_object(_ivalue());
  const std::vector<Attribute>& attributes = object.type().attributes;
  for (uint32_t i = 0; i < attributes.size(); ++i)
    if (object.place(i).isModule()) out.push_back({attributes[i].name, Module(object.place(i).toObject())});
  return out;
}
std::vector<Module> Module::children() const { return without_names(named_children()); }
std::vector<Named<Module>> Module::named_modules() const {
  std::vector<Named<Module>> out;
  each_module(_ivalue(), [&](const std::string& name, const ObjectPtr& m) { out.push_back({name, Module(m)}); });
  return out;
}
std::vector<Module> Module::modules() const { return without_names(named_modules()); }

// ---- state

void Module::convert(std::optional<Device> device, std::optional<ScalarType> dtype, bool non_blocking) const {
  ARGAND_CHECK(DtypeError, !dtype || is_floating_point(*dtype) || is_complex(*dtype),
               "to: a module is converted to dtypes of floating point, got ", dtype.value_or(kFloat));
  const NoGradGuard no_grad;
  std::unordered_set<const void*> done;
  each_attribute(_ivalue(), true, [&](const std::string&, const Attribute& a, IValue& v) {
    if ((!a.is_parameter && !a.is_buffer) || !v.isTensor() || !done.insert(v.toTensor().unsafeGetTensorImpl()).second)
      return;
    const Tensor& t = v.toTensor();
    if (!t.defined()) return;
    TensorOptions options;
    if (device) options = options.device(*device);
    if (dtype && (is_floating_point(t.dtype()) || is_complex(t.dtype()))) options = options.dtype(*dtype);
    t.set_data(t.detach().to(options, non_blocking));
    if (t.grad().defined()) t.mutable_grad() = t.grad().to(options, non_blocking);
  });
}
void Module::to(Device device, ScalarType dtype, bool non_blocking) const { convert(device, dtype, non_blocking); }
void Module::to(ScalarType dtype, bool non_blocking) const { convert({}, dtype, non_blocking); }
void Module::to(Device device, bool non_blocking) const { convert(device, {}, non_blocking); }

void Module::train(bool on) const {
  each_module(_ivalue(), [&](const std::string&, const ObjectPtr& m) {
    if (as_object(m).type().find_attribute("training") != Class::kAbsent) m->setAttr("training", on);
  });
}
bool Module::is_training() const {
  const IValue training = attr("training", true);
  return training.isBool() && training.toBool();
}
void Module::zero_grad() const {
  for (const Tensor& t : parameters()) t.mutable_grad() = Tensor();
}

Module Module::copy() const {
  const Object& from = as_object(_ivalue());
  const intrusive_ptr<Object> out(new Object(from.shared_type()));
  for (uint32_t i = 0; i < from.type().attributes.size(); ++i) out->place(i) = from.place(i);
  return Module(ObjectPtr(out));
}
Module Module::deepcopy() const { return Module(Copier().copy(IValue(_ivalue())).toObject()); }

}  // namespace jit
}  // namespace argand
