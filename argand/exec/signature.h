// The signature of an op, which the generator reads in its schema, so that nothing else has to parse schemas.
#pragma once
#include <span>
#include <string_view>

namespace argand {

// An argument.  Those that form TensorOptions are one argument of type "TensorOptions".
struct SignatureArgument {
  const char* name;
  std::string_view type;  // as in the schema, without alias annotations and with int for SymInt: "int[2]?"
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
