#include "argand/nn/functional/padding.h"

#include "argand/ops/functions.h"

namespace argand::nn::functional {
namespace {

// "kReflect" as the op says it.
const char* op_mode(const std::string& name) {
  return name == "kConstant"    ? "constant"
         : name == "kReflect"   ? "reflect"
         : name == "kReplicate" ? "replicate"
                                : "circular";
}

}  // namespace

Tensor pad(const Tensor& input, const PadFuncOptions& o) {
  const char* mode = op_mode(enumtype::get_enum_name(o.mode()));
  return argand::pad(input, o.pad(), mode, o.value() == 0 ? std::nullopt : std::optional<double>(o.value()));
}
Tensor pad_like(const Tensor& input, const std::vector<int64_t>& amounts, const std::string& mode_name) {
  return argand::pad(input, amounts, op_mode(mode_name));
}

}  // namespace argand::nn::functional
