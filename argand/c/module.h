// The operations that the C interface offers on a module.  Published networks (network.cpp) and TorchScript modules
// (script_module.cpp) implement them.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "argand/autograd/ivalue.h"
#include "argand/c/handles.h"

namespace argand::c {

class AnyModule {
 public:
  AnyModule() = default;
  AnyModule(const AnyModule&) = delete;
  AnyModule& operator=(const AnyModule&) = delete;
  virtual ~AnyModule() = default;

  virtual std::string type_name() const = 0;
  virtual std::vector<std::string> names(argand_module_part part) const = 0;
  // These throw ValueError for a name that is not there, and NotImplementedError where the module has no such thing.
  virtual std::string signature(const std::string& method) const = 0;
  virtual IValue call(const std::string& method, std::vector<IValue> arguments,
                      const std::unordered_map<std::string, IValue>& named) = 0;
  virtual IValue get(const std::string& name) const = 0;
  virtual void set(const std::string& name, IValue value) = 0;
  virtual std::unique_ptr<AnyModule> child(const std::string& name) const = 0;

  virtual void train(bool on) = 0;
  virtual bool is_training() const = 0;
  virtual void to(std::optional<Device> device, std::optional<ScalarType> dtype) = 0;
  virtual void fuse() = 0;
  virtual StateDict parameters() const = 0;
  virtual StateDict buffers() const = 0;
  virtual StateDict state_dict() const = 0;  // parameters and buffers, detached
  virtual void load_state_dict(const StateDict& state, bool strict) = 0;
};

}  // namespace argand::c

struct argand_module {
  std::unique_ptr<argand::c::AnyModule> module;
};
