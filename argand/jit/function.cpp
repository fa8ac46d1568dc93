#include "argand/jit/function.h"

#include "argand/jit/code.h"
#include "argand/jit/compiler.h"

namespace argand::jit {

Function::Function(Program& program, const Source& source, const FunctionTree& tree, std::string name)
    : program_(program), source_(source), tree_(tree), name_(std::move(name)) {
  for (const ParameterTree& p : tree.parameters) {
    Parameter& out = parameters_.emplace_back();
    out.name = p.name;
    out.keyword_only = p.keyword_only;
    if (p.type.kind != Expression::Kind::kAbsent) out.type = type_of(p.type, source);
    out.has_default = p.value.kind != Expression::Kind::kAbsent;
    if (out.has_default) out.value = constant_of(p.value, out.type, program, source);
  }
  if (tree.result.kind != Expression::Kind::kAbsent) result_ = type_of(tree.result, source);
}
Function::~Function() = default;

const Code& Function::code() const {
  std::call_once(compiled_, [this] { code_ = compile(*this); });
  return *code_;
}

}  // namespace argand::jit
