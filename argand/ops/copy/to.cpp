// The forms of `to` that name what changes, and type_as.
#include "argand/ops/copy/args.h"
#include "argand/ops/define.h"

namespace argand::ops {

struct ToDtype : Composite<ToDtypeArgs> {
  static constexpr auto schema =
      "to.dtype(Tensor self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? "
      "memory_format=None) -> Tensor";
  static constexpr auto doc = "self in another dtype; self itself if it has it already and copy is false.";
  static constexpr int variants = kMethod;
  static constexpr auto not_python_methods = "to";
  static Tensor compose(const Args& a) {
    return a.self.to(TensorOptions(a.dtype), a.non_blocking, a.copy, a.memory_format);
  }
  static void samples(S& s) { s.add({s->real({2, 3}), kFloat}); }
};
ARGAND_OP(ToDtype)

struct ToDevice : Composite<ToDeviceArgs> {
  static constexpr auto schema =
      "to.device(Tensor self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? "
      "memory_format=None) -> Tensor";
  static constexpr auto doc = "self on a device and in a dtype; self itself if nothing changes and copy is false.";
  static constexpr int variants = kMethod;
  static constexpr auto not_python_methods = "to";
  static Tensor compose(const Args& a) {
    return a.self.to(TensorOptions(a.dtype).device(a.device), a.non_blocking, a.copy, a.memory_format);
  }
  static void samples(S& s) { s.add({s->real({2, 3}), kCPU, kFloat}); }
};
ARGAND_OP(ToDevice)

struct ToOther : Composite<ToOtherArgs> {
  static constexpr auto schema =
      "to.other(Tensor self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) "
      "-> Tensor";
  static constexpr auto doc = "self with the dtype and device of other.";
  static constexpr int variants = kMethod;
  static constexpr auto not_python_methods = "to";
  static Tensor compose(const Args& a) { return a.self.to(a.other.options(), a.non_blocking, a.copy, a.memory_format); }
  static void samples(S& s) { s.add({s->real({2, 3}), s->integer({1}, 0, 2)}); }
};
ARGAND_OP(ToOther)

struct TypeAs : Composite<TypeAsArgs> {
  static constexpr auto schema = "type_as(Tensor self, Tensor other) -> Tensor";
  static constexpr auto doc = "self in the dtype and on the device of other.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) { return a.self.to(a.other.options()); }
  static void samples(S& s) { s.add({s->real({2, 3}), s->integer({1}, 0, 2)}); }
};
ARGAND_OP(TypeAs)

}  // namespace argand::ops
