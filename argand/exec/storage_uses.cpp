#include "argand/exec/storage_uses.h"

#include "argand/exec/window.h"

namespace argand::exec {

void StorageUses::begin(Instrs& instrs) {
  static_assert(kWindowInstructions * (kMaxInputs + 1) * 2 < size_t{1} << kSlotBits);
  // Instructions that were put aside because memory was lacking are issued together with those of a full window.
  for (; (instrs.list.size() + instrs.operands.size()) * 2 >= slots_.size(); ++slot_bits_)
    slots_.assign(slots_.size() * 2, Slot{});
  uses_.clear();
  ++window_;
  group_ = 0;
  for (Instr& i : instrs.list) {
    add(i.out);
    for (Operand& o : instrs.ins(i)) add(o);
  }
}

uint32_t StorageUses::index_of(const StorageImpl* storage) {
  const uint64_t hash = reinterpret_cast<uintptr_t>(storage) * 0x9e3779b97f4a7c15u;
  for (size_t at = hash >> (64 - slot_bits_);; at = (at + 1) % slots_.size()) {
    Slot& slot = slots_[at];
    if (slot.window != window_) {
      slot = {window_, static_cast<uint32_t>(uses_.size())};
      uses_.push_back({storage, 0, 0, 0, nullptr, nullptr, false, false, -1});
      return slot.use;
    }
    if (uses_[slot.use].storage == storage) return slot.use;
  }
}

void StorageUses::join(const Instrs& instrs, const Instr& instr) {
  const auto note = [](const Operand& o, const Operand*& first, bool& others) {
    if (!first)
      first = &o;
    else if (!first->same_layout(o))
      others = true;
  };
  for (const Operand& o : instrs.ins(instr)) {
    Use& u = of(o);
    ++u.in_group;
    note(o, u.read, u.other_reads);
  }
  Use& u = of(instr.out);
  ++u.in_group;
  note(instr.out, u.written, u.other_writes);
}

}  // namespace argand::exec
