#include "argand/jit/expressions.h"

#include "argand/autograd/dict.h"
#include "argand/autograd/list.h"
#include "argand/jit/call.h"
#include "argand/jit/program.h"
#include "argand/jit/values.h"

namespace argand::jit {

namespace {

constexpr size_t kFewArguments = 8;

IValue field_of(const IValue& tuple, const std::string& name) {
  const ivalue::Tuple& t = tuple.toTupleRef();
  if (t.names())
    for (size_t i = 0; i < t.names()->fields.size(); ++i)
      if (t.names()->fields[i] == name) return t.elements()[i];
  ARGAND_THROW(ValueError, "a tuple has no field '", name, "'");
}

// Attributes of values that are no objects are functions of one argument.
IValue property_of(IValue value, const std::string& name) {
  const Builtin builtin = find_builtin(name);
  IValue out;
  ARGAND_CHECK(ValueError, builtin && builtin({name, {&value, 1}, {}}, out), "a value of type ", value.tagKind(),
               " has no attribute '", name, "'");
  return out;
}

}  // namespace

IValue AttributeExpr::run(Frame& frame) const {
  IValue v = object->run(frame);
  if (!v.isObject()) return v.isTuple() ? field_of(v, name) : property_of(std::move(v), name);
  const auto& o = static_cast<const Object&>(*v.toObject());
  const uint32_t i = place.find(o.type(), [&](const Class& c) { return c.find_attribute(name); });
  return i != Class::kAbsent ? o.place(i) : o.getAttr(name);
}

IValue SubscriptExpr::run(Frame& frame) const {
  const IValue b = base->run(frame);
  return element_of(b, key->run(frame));
}

IValue SliceExpr::run(Frame& frame) const {
  const IValue b = base->run(frame), first = start->run(frame), last = stop->run(frame);
  return slice_of(b, first, last, step->run(frame));
}

IValue ListExpr::run(Frame& frame) const {
  if (typed) {
    if (elements.empty()) return empty_list(element);
    std::vector<IValue> values;
    values.reserve(elements.size());
    for (const ExprPtr& e : elements) values.push_back(e->run(frame));
    IValue list(std::move(values));
    ARGAND_CHECK(ValueError, conform(list, {Type::Kind::kList, "", {element}}), "a list of ", element.str(),
                 " got an element of another type");
    return list;
  }
  Values<kFewArguments> values(elements.size());
  for (const ExprPtr& e : elements) values.push(e->run(frame));
  if (values.all().empty()) return std::vector<Tensor>();  // what [] is without an annotation
  return typed_list(values.all());
}

IValue TupleExpr::run(Frame& frame) const {
  std::vector<IValue> values;
  values.reserve(elements.size());
  for (const ExprPtr& e : elements) values.push_back(e->run(frame));
  return names ? ivalue::Tuple::createNamed(std::move(values), names) : ivalue::Tuple::create(std::move(values));
}

IValue DictExpr::run(Frame& frame) const {
  const Dict<IValue, IValue> out;
  for (size_t i = 0; i + 1 < parts.size(); i += 2) {
    const IValue key = parts[i]->run(frame);
    out.insert_or_assign(key, parts[i + 1]->run(frame));
  }
  return out;
}

IValue OpExpr::run(Frame& frame) const {
  Values<kFewArguments> values(arguments.size());
  for (const ExprPtr& e : arguments) values.push(e->run(frame));
  return run(values.all());
}

IValue OpExpr::run(std::span<IValue> values) const {
  IValue out;
  if (builtin && builtin({op.name(), values, op.keywords()}, out)) return out;
  return op.run(values);
}

IValue AugmentedExpr::run(Frame& frame) const {
  Values<2> values(2);
  values.push(left->run(frame));
  values.push(right->run(frame));
  const IValue& x = *values.data();
  return (x.isTensor() || x.isList() ? in_place : plain).run(values.all());
}

IValue FunctionExpr::run(Frame& frame) const {
  Values<kFewArguments> values(arguments.size());
  for (const ExprPtr& e : arguments) values.push(e->run(frame));
  return call(*function, values.all());
}

IValue NestedExpr::run(Frame& frame) const {
  Values<kFewArguments> values(arguments.size());
  for (const ExprPtr& e : arguments) values.push(e->run(frame));
  return run_code(*code, values.all(), frame.line);
}

IValue MethodExpr::run(Frame& frame) const {
  IValue self = object->run(frame);
  if (!self.isObject()) {
    Values<kFewArguments> values(arguments.size() + 1);
    values.push(std::move(self));
    for (const ExprPtr& e : arguments) values.push(e->run(frame));
    return op.run(values.all());
  }
  const Class& type = static_cast<const Object&>(*self.toObject()).type();
  const uint32_t i = place.find(type, [&](const Class& c) { return c.find_method(op.op.name()); });
  ARGAND_CHECK(ValueError, i != Class::kAbsent, "an object of ", type.name, " has no method '", op.op.name(), "'");
  const Function& method = *type.methods[i];
  const std::vector<Parameter>& parameters = method.parameters();
  Values<kFewArguments> values(parameters.size());
  values.push(std::move(self));
  const size_t positional = arguments.size() - op.op.keywords().size();
  if (positional == parameters.size() - 1) {
    for (const ExprPtr& e : arguments) values.push(e->run(frame));
    return call(method, values.all());
  }
  // Some are given by name, or left to their defaults.
  ARGAND_CHECK(ValueError, positional < parameters.size(), method.name(), ": expected ", parameters.size() - 1,
               " arguments, got ", arguments.size());
  values.fill(parameters.size());
  std::vector<bool> has(parameters.size(), false);
  for (size_t k = 0; k < arguments.size(); ++k) {
    size_t at = k + 1;
    if (k >= positional)
      for (at = 1; at < parameters.size() && parameters[at].name != op.op.keywords()[k - positional];) ++at;
    ARGAND_CHECK(ValueError, at < parameters.size() && !has[at], method.name(), ": no parameter takes the argument ",
                 k + 1);
    values.data()[at] = arguments[k]->run(frame);
    has[at] = true;
  }
  for (size_t k = 1; k < parameters.size(); ++k) {
    if (has[k]) continue;
    ARGAND_CHECK(ValueError, parameters[k].has_default, method.name(), ": the argument '", parameters[k].name,
                 "' is missing");
    values.data()[k] = parameters[k].value;
  }
  return call(method, values.all());
}

IValue NewExpr::run(Frame&) const {
  return intrusive_ptr<ivalue::Object>(new Object({type->program->shared_from_this(), type}));
}

IValue AnnotateExpr::run(Frame& frame) const {
  IValue v = value->run(frame);
  if (v.isTensor()) {
    switch (type.kind) {
      case Type::Kind::kInt:
      case Type::Kind::kFloat:
      case Type::Kind::kBool:
      case Type::Kind::kComplex:
      case Type::Kind::kNumber:
        v = number_of(v.toTensor().item());
        break;
      default:
        break;
    }
  }
  const std::string kind = v.tagKind();
  ARGAND_CHECK(ValueError, conform(v, type), "expected a value of type ", type.str(), ", got one of type ", kind);
  return v;
}

IValue IsInstanceExpr::run(Frame& frame) const {
  const IValue v = value->run(frame);
  for (const Type& t : types)
    if (is_of_type(v, t)) return true;
  return false;
}

IValue HasAttributeExpr::run(Frame& frame) const {
  const IValue v = object->run(frame);
  return v.isObject() && static_cast<const Object&>(*v.toObject()).type().has(name);
}

IValue call_method(const intrusive_ptr<ivalue::Object>& object, const std::string& name,
                   std::vector<IValue> arguments) {
  const Class& type = static_cast<const Object&>(*object).type();
  const uint32_t i = type.find_method(name);
  ARGAND_CHECK(ValueError, i != Class::kAbsent, "an object of ", type.name, " has no method '", name, "'");
  arguments.insert(arguments.begin(), IValue(object));
  return call(*type.methods[i], std::move(arguments), {});
}

}  // namespace argand::jit
