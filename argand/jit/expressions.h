// Expressions of the compiled form.
#pragma once
#include <atomic>

#include "argand/jit/builtins.h"
#include "argand/jit/class.h"
#include "argand/jit/code.h"
#include "argand/jit/function.h"
#include "argand/jit/op_call.h"

namespace argand::jit {

struct ConstantExpr final : Expr {
  explicit ConstantExpr(IValue v) : value(std::move(v)) {}
  IValue run(Frame&) const override { return value; }
  IValue value;
};

struct LoadExpr final : Expr {
  LoadExpr(uint32_t s, bool l) : slot(s), last(l) {}
  IValue run(Frame& frame) const override {
    if (last) return std::move(frame.slots[slot]);
    return frame.slots[slot];
  }
  uint32_t slot;
  bool last;  // Note [Last uses]
};

// Where a name stands in the class of the object that was seen last: both in one word, so that threads may share it.
class Place {
 public:
  template <class Find>
  uint32_t find(const Class& c, const Find& find) const {
    const uint64_t known = known_.load(std::memory_order_relaxed);
    if (known >> 32 == c.id) return static_cast<uint32_t>(known);
    const uint32_t place = find(c);
    known_.store(uint64_t{c.id} << 32 | place, std::memory_order_relaxed);
    return place;
  }

 private:
  mutable std::atomic<uint64_t> known_{0};
};

struct AttributeExpr final : Expr {
  AttributeExpr(ExprPtr o, std::string n) : object(std::move(o)), name(std::move(n)) {}
  IValue run(Frame& frame) const override;
  ExprPtr object;
  std::string name;
  Place place;
};

struct SubscriptExpr final : Expr {
  SubscriptExpr(ExprPtr b, ExprPtr k) : base(std::move(b)), key(std::move(k)) {}
  IValue run(Frame& frame) const override;
  ExprPtr base, key;
};

struct SliceExpr final : Expr {
  IValue run(Frame& frame) const override;
  ExprPtr base, start, stop, step;
};

struct ListExpr final : Expr {
  IValue run(Frame& frame) const override;
  std::vector<ExprPtr> elements;
  bool typed = false;
  Type element;  // if typed
};

struct TupleExpr final : Expr {
  IValue run(Frame& frame) const override;
  std::vector<ExprPtr> elements;
  std::shared_ptr<const ivalue::Tuple::Names> names;
};

struct DictExpr final : Expr {
  IValue run(Frame& frame) const override;
  std::vector<ExprPtr> parts;  // keys and values in turn
};

struct TernaryExpr final : Expr {
  IValue run(Frame& frame) const override {
    return truth(condition->run(frame)) ? value->run(frame) : other->run(frame);
  }
  ExprPtr condition, value, other;
};

struct LogicExpr final : Expr {
  IValue run(Frame& frame) const override {
    const bool first = truth(left->run(frame));
    return IValue(first == is_and ? truth(right->run(frame)) : first);
  }
  ExprPtr left, right;
  bool is_and = false;
};

// A builtin function, or an op.
struct OpExpr final : Expr {
  OpExpr(std::string space, std::string name, std::vector<std::string> keywords)
      : builtin(space == "aten" || space == "prim" ? find_builtin(name) : nullptr),
        op(std::move(space), std::move(name), std::move(keywords)) {}
  IValue run(Frame& frame) const override;
  IValue run(std::span<IValue> values) const;
  Builtin builtin;
  OpCall op;
  std::vector<ExprPtr> arguments;
};

// x += y: a tensor and a list change in place, anything else gives a new value.
struct AugmentedExpr final : Expr {
  explicit AugmentedExpr(const std::string& name) : plain("aten", name, {}), in_place("aten", name + "_", {}) {}
  IValue run(Frame& frame) const override;
  OpExpr plain, in_place;
  ExprPtr left, right;
};

struct FunctionExpr final : Expr {
  IValue run(Frame& frame) const override;
  const Function* function = nullptr;
  std::vector<ExprPtr> arguments;  // one for each parameter
};

// A function inside of the function: its parameters are the variables that it reads.
struct NestedExpr final : Expr {
  IValue run(Frame& frame) const override;
  const Code* code = nullptr;
  std::vector<ExprPtr> arguments;
};

struct MethodExpr final : Expr {
  explicit MethodExpr(std::string name, std::vector<std::string> keywords)
      : op("aten", std::move(name), std::move(keywords)) {}
  IValue run(Frame& frame) const override;
  ExprPtr object;
  std::vector<ExprPtr> arguments;
  OpExpr op;  // for what is no object: the method of a tensor, a list, a text
  Place place;
};

struct NewExpr final : Expr {
  IValue run(Frame&) const override;
  const Class* type = nullptr;  // not as one of its owners: the program owns this expression, too
};

// annotate(type, value): a tensor where a number must be gives its element.
struct AnnotateExpr final : Expr {
  IValue run(Frame& frame) const override;
  Type type;
  ExprPtr value;
};

struct IsInstanceExpr final : Expr {
  IValue run(Frame& frame) const override;
  std::vector<Type> types;
  ExprPtr value;
};

struct HasAttributeExpr final : Expr {
  IValue run(Frame& frame) const override;
  ExprPtr object;
  std::string name;
};

// Calls a method with its arguments without self; ValueError unless they fit its parameters.
IValue call_method(const intrusive_ptr<ivalue::Object>& object, const std::string& name, std::vector<IValue> arguments);

}  // namespace argand::jit
