#include "argand/jit/steps.h"

#include "argand/autograd/dict.h"
#include "argand/autograd/list.h"
#include "argand/jit/call.h"

namespace argand::jit {

namespace {

// The elements of a sequence, in order.
std::vector<IValue> elements_of(const IValue& v) {
  const auto copied = [](const auto& elements) { return std::vector<IValue>(elements.begin(), elements.end()); };
  switch (v.kind()) {
    case IValue::Kind::kTuple:
      return v.toTupleRef().elements();
    case IValue::Kind::kList:
      return v.toListRef();
    case IValue::Kind::kIntList:
      return copied(v.toIntVector());
    case IValue::Kind::kDoubleList:
      return copied(v.toDoubleVector());
    case IValue::Kind::kTensorList:
      return copied(v.toTensorVector());
    case IValue::Kind::kDict: {
      std::vector<IValue> out;
      for (const auto& [key, value] : v.dict_elements()->entries) out.push_back(key);
      return out;
    }
    case IValue::Kind::kString: {
      std::vector<IValue> out;
      for (const char c : v.toStringRef()) out.emplace_back(std::string(1, c));
      return out;
    }
    case IValue::Kind::kTensor: {
      std::vector<IValue> out;
      const Tensor& t = v.toTensor();
      ARGAND_CHECK(ShapeError, t.dim() > 0, "iteration over a 0-d tensor");
      for (int64_t i = 0; i < t.size(0); ++i) out.emplace_back(t.select(0, i));
      return out;
    }
    default:
      ARGAND_THROW(ValueError, "a value of type ", v.tagKind(), " has no elements");
  }
}

void unpack(Frame& frame, const std::vector<std::unique_ptr<Target>>& targets, const IValue& value) {
  std::vector<IValue> elements = elements_of(value);
  ARGAND_CHECK(ValueError, elements.size() == targets.size(), "expected ", targets.size(), " values to unpack, got ",
               elements.size());
  for (size_t i = 0; i < targets.size(); ++i) targets[i]->set(frame, std::move(elements[i]));
}

}  // namespace

void Target::set(Frame& frame, IValue value) const {
  switch (kind) {
    case Kind::kNowhere:
      return;
    case Kind::kSlot:
      frame.slots[slot] = std::move(value);
      return;
    case Kind::kElement: {
      const IValue container = object->run(frame);
      return set_element(container, key->run(frame), std::move(value));
    }
    case Kind::kAttribute: {
      const IValue owner = object->run(frame);
      ARGAND_CHECK(ValueError, owner.isObject(), "the attribute '", name, "' is set in a value of type ",
                   owner.tagKind());
      auto& o = static_cast<Object&>(*owner.toObject());
      o.setAttr(name, std::move(value));
      return;
    }
  }
}

bool ExpressionStep::run(Frame& frame) const {
  value->run(frame);
  return false;
}

bool AssignStep::run(Frame& frame) const {
  if (target.kind == Target::Kind::kSlot)
    frame.slots[target.slot] = value->run(frame);
  else
    target.set(frame, value->run(frame));
  return false;
}

bool UnpackStep::run(Frame& frame) const {
  unpack(frame, targets, value->run(frame));
  return false;
}

bool ReturnStep::run(Frame& frame) const {
  if (value) frame.result = value->run(frame);
  return true;
}

bool IfStep::run(Frame& frame) const { return jit::run(truth(condition->run(frame)) ? body : other, frame); }

bool WhileStep::run(Frame& frame) const {
  while (truth(condition->run(frame))) {
    if (jit::run(body, frame)) return true;
    frame.line = line;
  }
  return false;
}

bool RangeStep::run(Frame& frame) const {
  const auto number = [&](const ExprPtr& e, int64_t otherwise) { return e ? e->run(frame).toInt() : otherwise; };
  const int64_t first = number(start, 0), end = number(stop, 0), by = number(step, 1);
  ARGAND_CHECK(ValueError, by != 0, "range() arg 3 must not be zero");
  for (int64_t i = first; by > 0 ? i < end : i > end;) {
    target.set(frame, i);
    if (jit::run(body, frame)) return true;
    frame.line = line;
    if (__builtin_add_overflow(i, by, &i)) break;
  }
  return false;
}

bool EachStep::run(Frame& frame) const {
  std::vector<IValue> elements = elements_of(values->run(frame));
  for (IValue& element : elements) {
    if (unpacks)
      unpack(frame, targets, element);
    else
      targets[0]->set(frame, std::move(element));
    if (jit::run(body, frame)) return true;
    frame.line = line;
  }
  return false;
}

bool WithStep::run(Frame& frame) const {
  const IValue context = value->run(frame);
  ARGAND_CHECK(ValueError, context.isObject(), "with: a value of type ", context.tagKind(), " has no __enter__");
  target.set(frame, call_method(context.toObject(), "__enter__", {}));
  const auto leave = [&] { call_method(context.toObject(), "__exit__", {IValue(), IValue(), IValue()}); };
  bool returns = false;
  try {
    returns = jit::run(body, frame);
  } catch (...) {
    const uint32_t at = frame.line;
    leave();
    frame.line = at;
    throw;
  }
  leave();
  return returns;
}

bool RaiseStep::run(Frame& frame) const {
  if (condition && truth(condition->run(frame))) return false;
  throw Exception::raised(message ? text_of(message->run(frame)) : std::string(condition ? "AssertionError: " : ""),
                          class_name);
}

}  // namespace argand::jit
