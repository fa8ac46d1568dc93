#include "argand/exec/window.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "argand/exec/instructions.h"
#include "argand/exec/known_ones.h"
#include "argand/exec/place.h"
#include "argand/exec/profiler.h"
#include "argand/exec/program_runner.h"
#include "argand/exec/storage_uses.h"
#include "argand/runtime/current_op.h"

namespace argand::exec {

void pack_scalars(const Scalar* scalars, int n, ScalarType compute, char* params) {
  for (int i = 0; i < n; ++i) {
    dispatch<kFloatTypes | kComplexTypes | kBoolType | dtype_bit(kLong)>(compute, "pointwise", [&](auto tag) {
      using T = typename decltype(tag)::type;
      reinterpret_cast<T*>(params)[i] = scalars[i].to<T>();
    });
  }
}

namespace {

std::atomic<Mutant> active_mutant{Mutant::kNone};
bool mutant(Mutant m) { return active_mutant.load(std::memory_order_relaxed) == m; }

// ---- from a group of instructions to a program

class GroupBuilder {
 public:
  // Of the instructions [first, last), which are the group of `uses`, into `program`, which is empty.
  GroupBuilder(const Instrs& instrs, size_t first, size_t last, StorageUses& uses, PointwiseProgram& program)
      : instrs_(instrs), uses_(uses), group_(std::span(instrs.list).subspan(first, last - first)), program_(program) {}

  void build(WindowStats& stats) {
    program_.sizes = group_.front().sizes;
    for (const Instr& i : group_) {
      ProgramStep& step = program_.steps.emplace_back();
      step.body = i.info;
      step.compute = i.compute;
      pack_scalars(i.scalars, i.info->num_scalars, i.compute, step.scalars);
      for (const Operand& o : instrs_.ins(i)) step.ins.push_back(read(o));
      step.out = write(i.out, i.info->name);
    }
    bind_results(stats);
    program_.may_move = may_move();
  }

 private:
  // A place in memory that the group reads or writes, and the value that is there after the steps so far.
  struct Known {
    const Operand* operand;
    int value;
    bool loaded;
    const char* writer;
    int next;  // place of the same storage; -1: none
  };

  int add(const Operand& o) {
    const bool number = o.storage->device().is_cpu() && !group_.front().place.device.is_cpu();
    program_.values.push_back({.dtype = o.dtype, .memory = nullptr, .strides = o.strides, .number = number});
    return static_cast<int>(program_.values.size()) - 1;
  }
  Known* find(const Operand& o) {
    for (int at = uses_.of(o).known; at >= 0; at = known_[static_cast<size_t>(at)].next)
      if (known_[static_cast<size_t>(at)].operand->same_layout(o)) return &known_[static_cast<size_t>(at)];
    return nullptr;
  }
  void learn(const Operand& o, int value, bool loaded, const char* writer) {
    int& first = uses_.of(o).known;
    known_.push_back({&o, value, loaded, writer, first});
    first = static_cast<int>(known_.size()) - 1;
  }
  int read(const Operand& o) {
    if (const Known* k = find(o)) return k->value;
    const int v = add(o);
    program_.values[v].memory = o.address();
    program_.values[v].load = true;
    program_.values[v].dies = only_group_owns(o);
    learn(o, v, true, "");
    return v;
  }
  int write(const Operand& o, const char* op) {
    const int v = add(o);
    if (Known* k = find(o))
      *k = {&o, v, false, op, k->next};
    else
      learn(o, v, false, op);
    return v;
  }
  // Beside those owners that `more` says.
  bool only_group_owns(const Operand& o, uint32_t more = 0) const {
    return o.storage->use_count() == uses_.of(o).in_group + more;
  }
  // The last value of each written place goes to memory, unless only the group itself owns the storage.
  void bind_results(WindowStats& stats) {
    for (const Known& known : known_) {
      if (known.loaded) continue;
      const StoragePtr& storage = known.operand->storage;
      if (!storage->allocated() && only_group_owns(*known.operand, mutant(Mutant::kElideOwned) ? 1 : 0)) {
        ++stats.elided;
        continue;
      }
      fresh_ = !storage->allocated();
      const ArrayShape shape{program_.sizes, known.operand->dtype};
      const CurrentOp writer(known.writer, shape);  // not the op that made the window issue
      program_.values[known.value].memory = known.operand->address();
      program_.values[known.value].store = true;
    }
  }

  const Operand& first_operand() const { return instrs_.ins(group_.front()).front(); }
  bool may_move() const {
    if (group_.size() != 1 || group_.front().info->num_inputs == 0 || !fresh_) return false;
    const Operand &in = first_operand(), &out = group_.front().out;
    return program_.values[program_.steps[0].ins[0]].dies && in.same_layout(out) && in.offset == 0 &&
           in.storage->nbytes() == out.storage->nbytes() && in.storage->device() == out.storage->device() &&
           !in.storage->pinned();
  }

  const Instrs& instrs_;
  StorageUses& uses_;
  std::span<const Instr> group_;
  PointwiseProgram& program_;
  SmallVector<Known, 16> known_;
  bool fresh_ = false;  // whether the memory of the last result is new
};

// Note [Alias rule]
bool may_join(const Instrs& all, const Instr& front, const Instr& next, StorageUses& uses) {
  if (!(front.sizes == next.sizes) || !(front.place == next.place)) return false;
  const auto clash = [](const Operand* first, bool others, const Operand& o) {
    return first && (others || !first->same_layout(o));
  };
  const StorageUses::Use& out = uses.of(next.out);
  if (!mutant(Mutant::kNoWriteAfterWrite) && clash(out.written, out.other_writes, next.out)) return false;
  if (!mutant(Mutant::kNoWriteAfterRead) && clash(out.read, out.other_reads, next.out)) return false;
  for (const Operand& o : all.ins(next)) {
    const StorageUses::Use& in = uses.of(o);
    if (!mutant(Mutant::kNoReadAfterWrite) && clash(in.written, in.other_writes, o)) return false;
  }
  return true;
}

// ---- the window of one thread

// Whether the calling thread is issuing a window.  What runs out of memory then must not wait for another window, whose
// thread may wait for this one.
thread_local bool issuing = false;
struct IssuingScope {
  const bool before = std::exchange(issuing, true);
  ~IssuingScope() { issuing = before; }
};

class Window final : public PendingWork {
 public:
  void flush() override {
    const std::lock_guard lock(mutex_);
    flush_locked();
  }

  void push(const PointwiseCall& call) {
    const Dims& sizes = call.out->impl().sizes;
    Instr instr{.place = Place(call.out->device()),
                .info = call.info,
                .compute = call.compute,
                .sizes = sizes,
                .out = make_operand(*call.out, sizes),
                .scalars = {}};
    std::copy(call.scalars, call.scalars + call.info->num_scalars, instr.scalars);
    Operand room[kMaxInputs];
    const std::span<Operand> ins(room, static_cast<size_t>(call.num_inputs));
    for (size_t i = 0; i < ins.size(); ++i) ins[i] = make_operand(*call.inputs[i], sizes);
    std::unique_lock lock(mutex_);
    while (PendingWork* other = claim(instr.out, ins)) {
      lock.unlock();  // two windows that wait for each other would wait for ever
      other->flush();
      lock.lock();
    }
    pending_bytes_ += static_cast<int64_t>(instr.out.storage->allocated() ? 0 : instr.out.storage->nbytes());
    const int64_t most = instr.place.device.is_cpu() ? kWindowBytes : kGpuWindowBytes;
    waiting_.push(std::move(instr), ins);
    ++stats_.instructions;
    if (waiting_.list.size() < kWindowInstructions && pending_bytes_ < most) return;
    try {
      flush_locked();
    } catch (const OutOfMemoryError&) {  // this call failed; those before it still wait
      drop_last();
      throw;
    }
  }

  WindowStats stats() {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

  bool makes_ones(const Tensor& t) {
    const std::lock_guard lock(mutex_);
    const auto last = std::find_if(waiting_.list.rbegin(), waiting_.list.rend(),
                                   [&](const Instr& i) { return i.out.storage == t.storage(); });
    return last != waiting_.list.rend() && last->sizes == t.impl().sizes &&
           last->out.same_layout(make_operand(t, last->sizes)) && fills_with_one(*last);
  }

 private:
  // Whether the instruction copies a 1 that is in host memory by now.
  bool fills_with_one(const Instr& i) const {
    if (i.info->num_inputs != 1 || i.info->num_scalars != 0 || std::string_view(i.info->text) != "x") return false;
    const Operand& number = waiting_.ins(i)[0];
    if (!number.storage->device().is_cpu() || !number.storage->allocated()) return false;
    for (const Instr& other : waiting_.list)
      if (other.out.storage == number.storage) return false;
    return dispatch<kAllTypes>(number.dtype, "copy", [&](auto tag) {
      using T = typename decltype(tag)::type;
      return *reinterpret_cast<const T*>(number.address()) == T(1);
    });
  }

  // Marks the storages of the instruction as pending here.  What waits on them in another thread's window happened
  // before, or reads them just now as this does: then nothing is marked, and that window is returned, to be flushed.  A
  // storage is pending in one window only, so that a write after all of them finds every reader.
  PendingWork* claim(const Operand& out, std::span<const Operand> ins) {
    SmallVector<StorageImpl*, kMaxInputs + 1> fresh;
    const auto take = [&](const Operand& o) -> PendingWork* {
      if (mutant(Mutant::kNoForeignFlush)) o.storage->set_pending(nullptr);
      PendingWork* before = o.storage->claim(this);
      if (!before) fresh.push_back(o.storage.get());
      return before == this ? nullptr : before;
    };
    PendingWork* other = take(out);
    for (size_t i = 0; i < ins.size() && !other; ++i) other = take(ins[i]);
    if (other)
      for (StorageImpl* s : fresh) s->set_pending(nullptr);
    return other;
  }
  void unmark(const Operand& o) {
    if (o.storage && o.storage->pending() == this) o.storage->set_pending(nullptr);
  }

  void drop_last() {
    if (waiting_.list.empty()) return;
    uses_.begin(waiting_);
    release(waiting_, waiting_.list.back());
    waiting_.operands.resize(waiting_.list.back().first_in);
    waiting_.list.pop_back();
    count_pending_bytes();
  }
  void count_pending_bytes() {
    pending_bytes_ = 0;
    for (const Instr& i : waiting_.list)
      if (!i.out.storage->allocated()) pending_bytes_ += static_cast<int64_t>(i.out.storage->nbytes());
  }
  // The program of the instructions [first, last) that are being issued.  Without memory for a result nothing of the
  // group has run: it waits on, with what follows.
  PointwiseProgram& build(size_t first, size_t last) {
    program_.sizes.clear();
    program_.values.clear();
    program_.steps.clear();
    program_.may_move = program_.moved = false;
    try {
      GroupBuilder(issuing_, first, last, uses_, program_).build(stats_);
    } catch (const OutOfMemoryError&) {
      for (size_t i = first; i < issuing_.list.size(); ++i)
        waiting_.push(std::move(issuing_.list[i]), issuing_.ins(issuing_.list[i]));
      issuing_.clear();
      count_pending_bytes();
      throw;
    }
    return program_;
  }

  void flush_locked() {
    if (waiting_.list.empty()) return;
    const IssuingScope scope;
    ++stats_.flushes;
    std::swap(waiting_, issuing_);
    pending_bytes_ = 0;
    // However issuing ends, nothing of this window may stay marked.
    struct Unmark {
      Window& window;
      ~Unmark() {
        for (const Instr& i : window.issuing_.list) window.unmark(i.out);
        for (const Operand& o : window.issuing_.operands) window.unmark(o);
        window.issuing_.clear();
      }
    } at_end{*this};
    uses_.begin(issuing_);
    for (size_t first = 0; first < issuing_.list.size();) {
      uses_.begin_group();
      const auto joins = [&](const Instr& next) { return may_join(issuing_, issuing_.list[first], next, uses_); };
      size_t last = first;
      do uses_.join(issuing_, issuing_.list[last++]);
      while (last < issuing_.list.size() && joins(issuing_.list[last]));
      const Place place = issuing_.list[first].place;
      const PlaceScope on_place(place);
      PointwiseProgram& program = build(first, last);
      const auto is_wanted = [](const ProgramValue& v) { return v.store; };
      if (std::any_of(program.values.begin(), program.values.end(), is_wanted)) {
        program_runner(place.device.type())(program);
        const Instr& only = issuing_.list[first];
        if (program.moved) only.out.storage->swap_bytes(*issuing_.ins(only)[0].storage);
        ++stats_.groups;
      }
      // Their references go now, so that later groups see who still owns what.
      for (; first < last; ++first) release(issuing_, issuing_.list[first]);
    }
  }
  // Lets go of the storages of an instruction.  One stays marked while another instruction of the window uses it.  Once
  // unmarked it may be claimed by another window at any moment, so only this window's own mark is ever taken away.
  void release(Instrs& all, Instr& instr) {
    const auto leave = [&](Operand& o) {
      if (uses_.release(o)) unmark(o);
      o.storage.reset();
    };
    leave(instr.out);
    for (Operand& o : all.ins(instr)) leave(o);
  }

  std::mutex mutex_;
  Instrs waiting_, issuing_;
  StorageUses uses_;          // of what is issued
  PointwiseProgram program_;  // of the group that is issued
  int64_t pending_bytes_ = 0;
  WindowStats stats_;
};

// Windows outlive their threads, because a storage of a finished thread may still point to one; they are used again.
class ThreadWindow {
 public:
  ThreadWindow() {
    PointwiseProgram nothing{.sizes = {1}, .values = {}, .steps = {}};
    program_runner(kCPU)(nothing);  // what issuing keeps per thread now outlives the window
    const std::lock_guard lock(mutex());
    if (idle().empty()) {
      window_ = new Window;
    } else {
      window_ = idle().back();
      idle().pop_back();
    }
  }
  ~ThreadWindow() {
    try {
      window_->flush();
    } catch (...) {  // a thread that ends has nobody to tell; the results it wanted are gone with it
    }
    const std::lock_guard lock(mutex());
    idle().push_back(window_);
  }
  Window& operator*() { return *window_; }

 private:
  static std::mutex& mutex() {
    static std::mutex& m = *new std::mutex;
    return m;
  }
  static std::vector<Window*>& idle() {
    static std::vector<Window*>& v = *new std::vector<Window*>;
    return v;
  }
  Window* window_;
};

ThreadWindow& thread_window() {
  thread_local ThreadWindow window;
  return window;
}

thread_local WindowMode thread_mode = WindowMode::kAuto;
thread_local bool waited = true;

}  // namespace

// ---- switches

void set_window_mode(WindowMode mode) {
  flush();
  thread_mode = mode;
}
WindowMode window_mode() { return thread_mode; }
void flush() {
  if (!issuing) (*thread_window()).flush();
}
WindowStats window_stats() { return (*thread_window()).stats(); }
Stats stats() {
  Backend* gpu = loaded_backend(kCUDA);
  return {window_stats(), gpu ? gpu->issue_stats() : IssueStats{}};
}
void joint() {
  waited = false;
  Backend* gpu = loaded_backend(kCUDA);
  if (!gpu) return;
  flush();
  gpu->joint();
}
void joint_if_idle() {
  if (waited) joint();
}
void note_wait() { waited = true; }
void set_window_mutant(Mutant m) { active_mutant.store(m, std::memory_order_relaxed); }

bool known_ones(const Tensor& t) {
  if (!t.is_cuda()) return false;
  Window& window = *thread_window();
  return t.storage()->pending() == &window && window.makes_ones(t);
}

bool window_takes(const PointwiseCall& call) {
  if (thread_mode == WindowMode::kEager) return false;
  if (thread_mode == WindowMode::kAuto && call.out->is_cpu() && call.out->numel() < kWindowMinElements) return false;
  if (profiler::is_active()) return false;  // Note [Profiling]
  if (call.out->numel() == 0) return false;
  if (call.out->storage()->exposed() && !mutant(Mutant::kKeepExposed)) return false;
  for (int i = 0; i < call.num_inputs; ++i)
    if (call.inputs[i]->storage()->exposed() && !mutant(Mutant::kReadExposedLate)) return false;
  (*thread_window()).push(call);
  return true;
}

}  // namespace argand::exec
