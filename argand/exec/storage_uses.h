// A table of the uses that the waiting instructions of a window make of each storage.  It is kept up to date as groups
// are made and issued: otherwise each of about a hundred questions per window would look at all of its 64 instructions.
#pragma once
#include "argand/exec/instructions.h"

namespace argand::exec {

class StorageUses {
 public:
  struct Use {
    const StorageImpl* storage;
    uint32_t operands;  // of the window, that are still to be released
    // For the group with this number:
    uint32_t group, in_group;        // operands
    const Operand *read, *written;   // the first ones; null: none
    bool other_reads, other_writes;  // whether there are some of other layouts than those
    int known;                       // for the builder of the group; -1 at first
  };

  // The uses of these instructions, whose operands get theirs; no group yet.
  void begin(Instrs& instrs);
  // An empty group.
  void begin_group() { ++group_; }
  // All operands of the instruction become the group's.
  void join(const Instrs& instrs, const Instr& instr);

  // As far as the group goes; not yet used by it: as after begin_group().
  Use& of(const Operand& o) {
    Use& u = uses_[o.use];
    if (u.group != group_) u = {u.storage, u.operands, group_, 0, nullptr, nullptr, false, false, -1};
    return u;
  }
  // One operand less; true if it was the last of its storage.
  bool release(const Operand& o) { return --uses_[o.use].operands == 0; }

 private:
  uint32_t index_of(const StorageImpl* storage);
  void add(Operand& o) {
    o.use = index_of(o.storage.get());
    ++uses_[o.use].operands;
  }

  static constexpr int kSlotBits = 10;  // slots at first: more than twice as many as operands of a window
  struct Slot {
    uint64_t window = 0;  // 32 bits would come round within hours
    uint32_t use = 0;
  };
  std::vector<Use> uses_;
  int slot_bits_ = kSlotBits;
  std::vector<Slot> slots_ = std::vector<Slot>(size_t{1} << kSlotBits);
  uint64_t window_ = 0;
  uint32_t group_ = 0;
};

}  // namespace argand::exec
