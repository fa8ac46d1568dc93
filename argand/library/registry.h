// The dispatcher's tables; private to argand/library.
#pragma once
#include <list>
#include <map>
#include <mutex>

#include "argand/base/fork_mutex.h"
#include "argand/library/dispatcher.h"
#include "argand/library/schema.h"

namespace argand::library {

struct Registered {
  DispatchKey key;
  KernelFunction kernel;
};

struct Operator {
  OperatorName name;
  std::optional<FunctionSchema> schema;
  std::string defined_at;
  uint64_t place = 0;             // among all definitions of the process
  std::list<Registered> kernels;  // the newest first; it hides the others until it is removed
  size_t users = 0;               // definitions and kernels

  const KernelFunction* find(DispatchKey key) const;
};

// Never destroyed, because libraries in static storage unregister when the program ends.
struct Registry {
  static Registry& get();
  ProcessMutex mutex;
  std::map<std::pair<std::string, std::string>, Operator> operators;
  std::list<Registered> fallbacks;
  uint64_t definitions = 0;
  std::map<std::string, std::string> namespaces;  // namespace of each Library of kind DEF -> its source location

  Operator& entry(const OperatorName& name) {
    Operator& op = operators[{name.name, name.overload_name}];
    op.name = name;
    return op;
  }
  void release(Operator& op) {
    if (--op.users == 0) operators.erase({op.name.name, op.name.overload_name});
  }
};

// Visits every defined tensor of a value at any depth.
template <class F>
void each_tensor(const IValue& v, const F& f) {
  if (v.isTensor() && v.toTensor().defined()) f(v.toTensor());
  if (v.isTensorList())
    for (const Tensor& t : v.toTensorVector())
      if (t.defined()) f(t);
  if (v.isGenericList())
    for (const IValue& e : v.toListRef()) each_tensor(e, f);
  if (v.isTuple())
    for (const IValue& e : v.toTupleRef().elements()) each_tensor(e, f);
  if (v.isGenericDict())
    for (const auto& [key, value] : v.dict_elements()->entries) each_tensor(key, f), each_tensor(value, f);
}

// The Autograd kernel of an op that has only a kernel for the device.
const KernelFunction& autograd_not_registered();

}  // namespace argand::library
