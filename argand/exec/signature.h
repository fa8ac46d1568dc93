// What the generator reads in the schema of an op, so that nobody else has to read schemas.
#pragma once
#include <span>
#include <string_view>

namespace argand {

// An argument.  Those of TensorOptions are one, whose type is "TensorOptions".
struct SignatureArgument {
  const char* name;
  std::string_view type;  // as the schema has it, but without what it says of aliases, and SymInt is int: "int[2]?"
  bool keyword_only;

  bool takes_number() const { return type == "Tensor|Scalar"; }
  bool holds_tensors() const { return type.starts_with("Tensor") && type != "TensorOptions"; }
  // A tensor, or a tensor of a list, that a call may leave undefined.
  bool may_be_undefined() const { return type.starts_with("Tensor?"); }
};

struct SignatureResult {
  const char* name;  // empty: the schema gives none
  std::string_view type;

  bool is_list() const { return type.ends_with("[]"); }
};

struct Signature {
  const char* overload;  // "dim"; empty: the op's schema names none
  std::span<const SignatureArgument> arguments;
  std::span<const SignatureResult> results;
};

}  // namespace argand
