// The contents of an issue window: pointwise instructions and their operands.
#pragma once
#include <span>
#include <vector>

#include "argand/exec/place.h"
#include "argand/exec/pointwise.h"

namespace argand::exec {

// An operand of an instruction: a tensor with strides over the instruction's shape.  Owns its storage.
struct Operand {
  StoragePtr storage;
  Dims strides;
  int64_t offset = 0;
  ScalarType dtype = kFloat;
  uint32_t use = 0;  // of the storage, in StorageUses, while the instruction is issued
  bool same_layout(const Operand& o) const { return offset == o.offset && dtype == o.dtype && strides == o.strides; }
  char* address() const { return static_cast<char*>(storage->issued_data()) + offset * element_size(dtype); }
};

struct Instr {
  Place place;
  const PointwiseInfo* info;
  ScalarType compute;
  Dims sizes;
  Operand out;
  Scalar scalars[kMaxScalars];
  uint32_t first_in = 0, num_ins = 0;  // in Instrs::operands
};

// Instructions in order, with their operands.  Clearing keeps the memory for reuse.
struct Instrs {
  std::vector<Instr> list;
  std::vector<Operand> operands;
  std::span<Operand> ins(const Instr& i) { return std::span(operands).subspan(i.first_in, i.num_ins); }
  std::span<const Operand> ins(const Instr& i) const { return std::span(operands).subspan(i.first_in, i.num_ins); }
  void push(Instr&& instr, std::span<Operand> ins) {
    instr.first_in = static_cast<uint32_t>(operands.size());
    instr.num_ins = static_cast<uint32_t>(ins.size());
    operands.insert(operands.end(), std::make_move_iterator(ins.begin()), std::make_move_iterator(ins.end()));
    list.push_back(std::move(instr));
  }
  void clear() {
    list.clear();
    operands.clear();
  }
};

inline Operand make_operand(const Tensor& t, const Dims& sizes) {
  const TensorImpl& impl = t.impl();
  if (impl.sizes == sizes) return {impl.storage, impl.strides, impl.offset, impl.dtype};
  return {impl.storage, expanded_strides(impl.sizes, impl.strides, sizes), impl.offset, impl.dtype};
}

}  // namespace argand::exec
