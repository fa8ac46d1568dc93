// The arguments and results of a user-defined op, as PyTorch's schema strings give them:
//
//   pack::scale(Tensor(a!) self, float factor=2, *, int[]? dims=None) -> Tensor(a!)
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

#include "argand/autograd/ivalue.h"

namespace argand {

// A type of a schema: a name with its list, optional and alias marks.  Kernels see ScalarType, Layout, MemoryFormat and
// SymInt as integers, so is() reports Int for them.
struct SchemaType {
  enum class Kind : uint8_t { Tensor, Int, Float, Bool, Str, Scalar, Device, Generator, Optional, List, Dict, Tuple };
  Kind kind = Kind::Tensor;
  std::string name;                 // as written: "Tensor", "ScalarType"; empty for those with elements
  std::vector<SchemaType> element;  // Optional and List: one; Dict: key and value; Tuple: each
  int64_t size = -1;                // for a list of fixed size, int[2]

  std::string str() const;
  // Whether a kernel that takes one type also takes the other.
  bool same_kind(const SchemaType& other) const;
};

// (a), (a!): which tensors share memory, and which the op writes.
struct AliasInfo {
  std::string set;
  bool is_write = false;
  bool isWrite() const { return is_write; }
};

class Argument {
 public:
  Argument() = default;
  Argument(std::string name, SchemaType type) : name_(std::move(name)), type_(std::move(type)) {}
  const std::string& name() const { return name_; }
  const SchemaType& type() const { return type_; }
  const AliasInfo* alias_info() const { return has_alias_ ? &alias_ : nullptr; }
  const std::optional<IValue>& default_value() const { return default_; }
  bool kwarg_only() const { return kwarg_only_; }

 private:
  friend class SchemaParser;
  std::string name_;
  SchemaType type_;
  AliasInfo alias_;
  bool has_alias_ = false;
  bool kwarg_only_ = false;
  std::optional<IValue> default_;
  std::string default_text_;
  friend std::ostream& operator<<(std::ostream& out, const Argument& a);
};

// "pack::scale" and "out" of pack::scale.out.
struct OperatorName {
  std::string name, overload_name;
  std::string str() const { return overload_name.empty() ? name : name + "." + overload_name; }
  friend bool operator==(const OperatorName& a, const OperatorName& b) = default;
};

class FunctionSchema {
 public:
  FunctionSchema() = default;
  FunctionSchema(OperatorName name, std::vector<Argument> arguments, std::vector<Argument> returns)
      : name_(std::move(name)), arguments_(std::move(arguments)), returns_(std::move(returns)) {}
  const std::string& name() const { return name_.name; }
  const std::string& overload_name() const { return name_.overload_name; }
  const OperatorName& operator_name() const { return name_; }
  void set_name(OperatorName name) { name_ = std::move(name); }
  const std::vector<Argument>& arguments() const { return arguments_; }
  const std::vector<Argument>& returns() const { return returns_; }
  bool is_mutable() const;
  std::string str() const;
  // Empty if a kernel of the types of `kernel` can be this op's; else what differs.
  std::string difference(const FunctionSchema& kernel) const;

 private:
  OperatorName name_;
  std::vector<Argument> arguments_, returns_;
};

std::ostream& operator<<(std::ostream& out, const OperatorName& name);
std::ostream& operator<<(std::ostream& out, const FunctionSchema& schema);

// ValueError, with the position in `text`, for an invalid schema.
FunctionSchema parse_schema(std::string_view text);
// "pack::scale.out"
OperatorName parse_operator_name(std::string_view text);
// "float[]?"
SchemaType parse_schema_type(std::string_view text);

}  // namespace argand
