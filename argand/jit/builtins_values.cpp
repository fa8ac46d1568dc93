// Values of any type, switches of the library, printing and raising.
#include <iostream>

#include "argand/base/log.h"
#include "argand/core/cpu_generator.h"
#include "argand/core/grad_mode.h"
#include "argand/exec/autocast.h"
#include "argand/jit/builtins.h"
#include "argand/jit/call.h"

namespace argand::jit {

namespace {

// Whether it is the same value, as for None, numbers and objects.
bool identical(const IValue& a, const IValue& b) {
  if (a.kind() != b.kind()) return false;
  return a.isTensor() ? a.toTensor().is_same(b.toTensor()) : a == b;
}
bool is(const BuiltinCall& c, IValue& out) {
  out = c[0].isNone() || c[1].isNone() ? c[0].kind() == c[1].kind() : identical(c[0], c[1]);
  return true;
}
bool is_not(const BuiltinCall& c, IValue& out) {
  is(c, out);
  out = !out.toBool();
  return true;
}
bool negation(const BuiltinCall& c, IValue& out) {
  out = !truth(c[0]);
  return true;
}
bool unwrap(const BuiltinCall& c, IValue& out) {
  c.need(!c[0].isNone(), "Unwrapping null optional");
  out = c[0];
  return true;
}
bool same_value(const BuiltinCall& c, IValue& out) {
  out = c[0];
  return true;
}
bool text(const BuiltinCall& c, IValue& out) {
  out = text_of(c[0]);
  return true;
}
bool print(const BuiltinCall& c, IValue&) {
  std::string line;
  for (size_t i = 0; i < c.size(); ++i) line += (i > 0 ? " " : "") + text_of(c[i]);
  std::cout << line << std::endl;
  return true;
}
bool warn_user(const BuiltinCall& c, IValue&) {
  warn(text_of(c[0]));
  return true;
}
bool raise(const BuiltinCall& c, IValue&) {
  throw Exception::raised(text_of(c[0]), c.size() > 1 && c[1].isString() ? c[1].toStringRef() : "");
}
bool hash(const BuiltinCall& c, IValue& out) {
  size_t h = 0;
  if (c[0].isString())
    h = std::hash<std::string>()(c[0].toStringRef());
  else if (c[0].isInt())
    h = std::hash<int64_t>()(c[0].toInt());
  else if (c[0].isDouble())
    h = std::hash<double>()(c[0].toDouble());
  else if (c[0].isBool())
    h = c[0].toBool();
  else if (c[0].isTensor())
    h = std::hash<const void*>()(c[0].toTensor().unsafeGetTensorImpl());
  else
    return false;
  out = static_cast<int64_t>(h);
  return true;
}
bool grad_is_enabled(const BuiltinCall&, IValue& out) {
  out = GradMode::is_enabled();
  return true;
}
bool set_grad_enabled(const BuiltinCall& c, IValue&) {
  GradMode::set_enabled(c[0].toBool());
  return true;
}
bool autocast_is_enabled(const BuiltinCall&, IValue& out) {
  out = autocast::is_autocast_enabled(kCUDA);
  return true;
}
bool autocast_cpu_is_enabled(const BuiltinCall&, IValue& out) {
  out = autocast::is_autocast_enabled(kCPU);
  return true;
}
bool seed(const BuiltinCall& c, IValue&) {
  if (c.size() != 1 || !c[0].isInt()) return false;
  manual_seed(static_cast<uint64_t>(c[0].toInt()));
  return true;
}
bool yes(const BuiltinCall&, IValue& out) {
  out = true;
  return true;
}
bool no(const BuiltinCall&, IValue& out) {
  out = false;
  return true;
}

constexpr NamedBuiltin kTable[] = {{"__is__", is},
                                   {"__isnot__", is_not},
                                   {"__not__", negation},
                                   {"_unwrap_optional", unwrap},
                                   {"unchecked_unwrap_optional", unwrap},
                                   {"wait", same_value},
                                   {"awaitable_wait", same_value},
                                   {"str", text},
                                   {"print", print},
                                   {"Print", print},
                                   {"warn", warn_user},
                                   {"RaiseException", raise},
                                   {"hash", hash},
                                   {"is_grad_enabled", grad_is_enabled},
                                   {"set_grad_enabled", set_grad_enabled},
                                   {"is_autocast_enabled", autocast_is_enabled},
                                   {"is_autocast_cpu_enabled", autocast_cpu_is_enabled},
                                   {"manual_seed", seed},
                                   {"is_scripting", yes},
                                   {"is_tracing", no}};

}  // namespace

std::span<const NamedBuiltin> value_builtins() { return kTable; }

}  // namespace argand::jit
