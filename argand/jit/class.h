// Classes of TorchScript's code and their objects.  A class never changes once the program has given it out.
#pragma once
#include <memory>
#include <unordered_map>

#include "argand/jit/types.h"

namespace argand::jit {

class Function;
class Program;

struct Attribute {
  std::string name;
  Type type;
  bool is_parameter = false, is_buffer = false;
};

// An attribute with the same value in all objects: `name : Final[type] = value`.
struct Constant {
  std::string name;
  Type type;
  IValue value;
  Expression tree;  // of the value
};

struct Class {
  enum class Kind : uint8_t { kPlain, kModule, kNamedTuple, kInterface };
  Kind kind = Kind::kPlain;
  Program* program = nullptr;  // which owns the class
  std::string name;            // qualified: "__torch__.torch.nn.modules.conv.Conv2d"
  // Unlike that of any other class of this process: calls remember by it where a name stands.
  uint32_t id = 0;
  std::vector<Attribute> attributes;  // each with a place in the objects
  std::vector<Constant> constants;
  std::vector<std::unique_ptr<Function>> methods;      // in the order of the file
  std::shared_ptr<const ivalue::Tuple::Names> fields;  // of a named tuple
  std::vector<IValue> defaults;                        // of its last fields

  static constexpr uint32_t kAbsent = ~uint32_t{0};
  uint32_t find_attribute(const std::string& attribute) const;
  uint32_t find_method(const std::string& method) const;
  const Constant* find_constant(const std::string& constant) const;
  bool has(const std::string& name) const;  // an attribute, a constant or a method

  Class();
  ~Class();
  std::unordered_map<std::string, uint32_t> attribute_places, method_places;  // of the names
};

class Object final : public ivalue::Object {
 public:
  // All attributes are None at first.  The object keeps the program that the class belongs to.
  explicit Object(std::shared_ptr<const Class> type);
  std::string type_name() const override { return type_->name; }
  bool is_module() const override { return type_->kind == Class::Kind::kModule; }
  const IValue& getAttr(const std::string& name) const override;  // also constants
  void setAttr(const std::string& name, IValue value) override;   // ValueError unless it is of the declared type

  const Class& type() const { return *type_; }
  const std::shared_ptr<const Class>& shared_type() const { return type_; }
  IValue& place(uint32_t i) { return places_[i]; }
  const IValue& place(uint32_t i) const { return places_[i]; }

 private:
  std::shared_ptr<const Class> type_;
  std::vector<IValue> places_;
};

}  // namespace argand::jit
