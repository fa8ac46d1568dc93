#include "argand/exec/window.h"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "argand/base/log.h"
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
  // Builds `program`, which is empty, from the instructions [first, last), which are the group of `uses`.
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
  // A location in memory that the group reads or writes, and its value after the steps so far.
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
  // `more`: the number of owners that do not count.
  bool only_group_owns(const Operand& o, uint32_t more = 0) const {
    return o.storage->use_count() == uses_.of(o).in_group + more;
  }
  // The last value of each written location is stored, unless only the group itself owns the storage.
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
      if (covers_storage(*known.operand)) storage->recover();
      program_.values[known.value].memory = known.operand->address();
      program_.values[known.value].store = true;
    }
  }

  // Whether writing the operand writes every byte of its storage.  Written operands never overlap themselves.
  bool covers_storage(const Operand& o) const {
    return static_cast<size_t>(numel_of(program_.sizes) * element_size(o.dtype)) == o.storage->nbytes();
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

// Whether the calling thread is issuing a window.  If it runs out of memory then, it must not wait for another window,
// whose thread may wait for this one.
thread_local bool issuing = false;
struct IssuingScope {
  const bool before = std::exchange(issuing, true);
  ~IssuingScope() { issuing = before; }
};

// Note [Failures at issue time]
// A call has returned before its instruction is issued.  A failure then leaves every storage either correct or marked:
// - A group without memory for its results does not run: its instructions are put aside, and with them all later ones
//   that write what they read or write, or read what they write.  Their storages stay pending here, so that an access
//   to one makes the window try again.  Everything else goes on; instructions whose results are unused are dropped.
// - After any other failure the storages that the group would have written are lost (Note [Lost writes]).
// The first failure is thrown at once to a thread that waits for the window (an access to any of its storages, the end
// of a backward pass, a synchronisation), and again at each access to a storage that it concerns.  A call that makes
// the window issue because it is full fails only if its own instruction was put aside, and then it has had no effect.
class Window final : public PendingWork {
 public:
  // Issues all waiting work; tries work that lacked memory again if it concerns `wanted`.
  void flush(const StorageImpl& wanted) override {
    const std::unique_lock lock = own();
    issue(false);
    throw_new_failure();
    if (!waits_aside(wanted)) return;
    issue(true);
    if (waits_aside(wanted)) std::rethrow_exception(no_memory_);
  }
  // Issues all waiting work; work that lacked memory stays pending.
  void flush_ready() {
    const std::unique_lock lock = own();
    issue(false);
    throw_new_failure();
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
    std::unique_lock lock = own();
    while (const Foreign other = claim(instr.out, ins)) {
      lock.unlock();  // two windows that wait for each other would wait for ever
      other.window->flush(*other.storage);
      lock.lock();
    }
    pending_bytes_ += static_cast<int64_t>(instr.out.storage->allocated() ? 0 : instr.out.storage->nbytes());
    const int64_t most = instr.place.device.is_cpu() ? kWindowBytes : kGpuWindowBytes;
    waiting_.push(std::move(instr), ins);
    ++stats_.instructions;
    if (waiting_.list.size() < kWindowInstructions && pending_bytes_ < most) return;
    issue(false);
    failure_ = nullptr;  // of other calls: reported at access to their storages
    if (!last_is_aside_) return;
    drop_last_aside();
    std::rethrow_exception(no_memory_);
  }

  WindowStats stats() {
    const std::unique_lock lock = own();
    return stats_;
  }

  bool makes_ones(const Tensor& t) {
    const std::unique_lock lock = own();
    const auto last = std::find_if(waiting_.list.rbegin(), waiting_.list.rend(),
                                   [&](const Instr& i) { return i.out.storage == t.storage(); });
    return last != waiting_.list.rend() && last->sizes == t.impl().sizes &&
           last->out.same_layout(make_operand(t, last->sizes)) && fills_with_one(*last);
  }

  // For the child of a fork(), which may not have the window's thread.
  void inherit() {
    new (&mutex_) std::mutex;  // that thread may have held it
    inherited_ = true;
  }

 private:
  std::unique_lock<std::mutex> own() {
    std::unique_lock lock(mutex_);
    if (inherited_) [[unlikely]]
      drop_inherited();
    return lock;
  }
  // The child cannot use devices, so instructions for a device belong to the parent; those that the parent was issuing
  // are half done.  The results of both are lost in the child.  Instructions for the CPU are issued as usual.
  void drop_inherited() {
    inherited_ = false;
    const std::exception_ptr why =
        std::make_exception_ptr(DeviceError("this was still to be computed when the process was made by fork(), and "
                                            "its parent alone computes it; fork before "
                                            "such work, or look at its result before fork()"));
    const Instrs begun = std::exchange(issuing_, {});
    Instrs old[] = {std::exchange(waiting_, {}), std::exchange(aside_, {})};
    Instrs* const kept[] = {&waiting_, &aside_};
    for (const Instr& i : begun.list)
      if (i.out.storage) i.out.storage->lose(why);
    std::vector<Operand> left = begun.operands;
    for (const Instr& i : begun.list) left.push_back(i.out);
    for (size_t k = 0; k < 2; ++k)
      for (Instr& i : old[k].list) {
        left.push_back(i.out);
        const std::span<Operand> ins = old[k].ins(i);
        left.insert(left.end(), ins.begin(), ins.end());
        if (i.place.device.is_cpu())
          kept[k]->push(std::move(i), ins);
        else
          i.out.storage->lose(why);
      }
    pending_bytes_ = 0;
    failure_ = nullptr;
    const auto is_used = [&](const StorageImpl* s) {
      const auto of = [s](const Instrs& all) {
        const auto same = [s](const Operand& o) { return o.storage.get() == s; };
        return std::any_of(all.operands.begin(), all.operands.end(), same) ||
               std::any_of(all.list.begin(), all.list.end(), [&](const Instr& i) { return same(i.out); });
      };
      return of(waiting_) || of(aside_);
    };
    for (const Operand& o : left)
      if (o.storage && o.storage->pending() == this && !is_used(o.storage.get())) o.storage->set_pending(nullptr);
  }

  // Whether the instruction copies a 1 that is in host memory already.
  bool fills_with_one(const Instr& i) const {
    if (i.info->kind != BodyKind::kIdentity) return false;
    const Operand& number = waiting_.ins(i)[0];
    if (!number.storage->device().is_cpu() || !number.storage->allocated()) return false;
    for (const Instr& other : waiting_.list)
      if (other.out.storage == number.storage) return false;
    return dispatch<kAllTypes>(number.dtype, "copy", [&](auto tag) {
      using T = typename decltype(tag)::type;
      return *reinterpret_cast<const T*>(number.address()) == T(1);
    });
  }

  // ---- marks

  // Another thread's window, and the storage that is pending there.
  struct Foreign {
    PendingWork* window = nullptr;
    StoragePtr storage;
    explicit operator bool() const { return window != nullptr; }
  };
  // Marks the storages of the instruction as pending here.  If one is pending in another thread's window, that work
  // came before, or reads the storage as this instruction does: then nothing is marked, and that window is returned, to
  // be flushed.  A storage is pending in one window only, so that a later write finds every reader.
  Foreign claim(const Operand& out, std::span<const Operand> ins) {
    SmallVector<StorageImpl*, kMaxInputs + 1> fresh;
    const auto take = [&](const Operand& o) -> PendingWork* {
      if (mutant(Mutant::kNoForeignFlush)) o.storage->set_pending(nullptr);
      PendingWork* before = o.storage->claim(this);
      if (!before) fresh.push_back(o.storage.get());
      return before == this ? nullptr : before;
    };
    Foreign other;
    if (PendingWork* w = take(out)) other = {w, out.storage};
    for (size_t i = 0; i < ins.size() && !other; ++i)
      if (PendingWork* w = take(ins[i])) other = {w, ins[i].storage};
    if (other)
      for (StorageImpl* s : fresh) s->set_pending(nullptr);
    return other;
  }
  void unmark(const Operand& o) {
    if (o.storage && o.storage->pending() == this && !waits_aside(*o.storage)) o.storage->set_pending(nullptr);
  }
  // Releases the storages of an instruction.  A storage stays marked while another instruction of the window uses it.
  // Once unmarked, another window may claim it at any moment, so a window removes only its own mark.
  void release(Instrs& all, Instr& instr) {
    const auto leave = [&](Operand& o) {
      if (uses_.release(o)) unmark(o);
      o.storage.reset();
    };
    leave(instr.out);
    for (Operand& o : all.ins(instr)) leave(o);
  }

  // ---- what lacks memory

  bool waits_aside(const StorageImpl& storage) const {
    const auto uses = [&](const Operand& o) { return o.storage.get() == &storage; };
    if (aside_.list.empty()) return false;
    return std::any_of(aside_.list.begin(), aside_.list.end(), [&](const Instr& i) { return uses(i.out); }) ||
           std::any_of(aside_.operands.begin(), aside_.operands.end(), uses);
  }
  bool must_wait_aside(const Instrs& all, const Instr& instr) const {
    if (aside_.list.empty()) return false;
    const auto writes = [&](const Operand& o) {
      return std::any_of(aside_.list.begin(), aside_.list.end(),
                         [&](const Instr& i) { return i.out.storage == o.storage; });
    };
    const std::span<const Operand> ins = all.ins(instr);
    return waits_aside(*instr.out.storage) || std::any_of(ins.begin(), ins.end(), writes);
  }
  // An instruction that is being issued; its storages stay marked.
  void put_aside(Instr& instr) { aside_.push(std::move(instr), issuing_.ins(instr)); }
  void drop_last_aside() {
    Instr last = std::move(aside_.list.back());
    const std::vector<Operand> ins(aside_.operands.begin() + last.first_in, aside_.operands.end());
    aside_.operands.resize(last.first_in);
    aside_.list.pop_back();
    unmark(last.out);
    for (const Operand& o : ins) unmark(o);
  }
  // Drops the instructions whose results are not used any more.
  void drop_unwanted_aside() {
    std::unordered_map<const StorageImpl*, uint32_t> owned;
    for (const Instr& i : aside_.list) ++owned[i.out.storage.get()];
    for (const Operand& o : aside_.operands) ++owned[o.storage.get()];
    std::unordered_set<const StorageImpl*> read_later;
    std::vector<char> keep(aside_.list.size());
    for (size_t at = aside_.list.size(); at-- > 0;) {
      const Instr& i = aside_.list[at];
      const StorageImpl* out = i.out.storage.get();
      keep[at] = read_later.count(out) || out->use_count() != owned[out];
      if (keep[at])
        for (const Operand& o : aside_.ins(i)) read_later.insert(o.storage.get());
    }
    Instrs all = std::exchange(aside_, {});
    for (size_t at = 0; at < keep.size(); ++at)
      if (keep[at]) aside_.push(std::move(all.list[at]), all.ins(all.list[at]));
    for (size_t at = 0; at < keep.size(); ++at) {
      if (keep[at]) continue;
      unmark(all.list[at].out);
      for (const Operand& o : all.ins(all.list[at])) unmark(o);
    }
  }

  // ---- issuing

  void throw_new_failure() {
    if (const std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
  }
  // Issues the waiting instructions and, with `again`, first those that were put aside.  A failure is kept in
  // `failure_` or `no_memory_` and not thrown.
  void issue(bool again) {
    last_is_aside_ = false;
    if (!aside_.list.empty()) drop_unwanted_aside();
    if (waiting_.list.empty() && !(again && !aside_.list.empty())) return;
    const IssuingScope scope;
    ++stats_.flushes;
    pending_bytes_ = 0;
    retried_ = 0;
    std::swap(waiting_, issuing_);
    if (again && !aside_.list.empty()) {
      retried_ = aside_.list.size();
      Instrs all = std::exchange(aside_, {});
      for (Instr& i : issuing_.list) all.push(std::move(i), issuing_.ins(i));
      issuing_ = std::move(all);
    }
    issue_groups();
  }

  // Issues the groups of `issuing_`.
  void issue_groups() {
    // However issuing ends, only storages of instructions that were put aside may stay marked by this window.
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
      if (must_wait_aside(issuing_, issuing_.list[first])) {
        last_is_aside_ = first + 1 == issuing_.list.size();
        put_aside(issuing_.list[first++]);
        continue;
      }
      uses_.begin_group();
      const auto joins = [&](const Instr& next) {
        return may_join(issuing_, issuing_.list[first], next, uses_) && !must_wait_aside(issuing_, next);
      };
      size_t last = first;
      do uses_.join(issuing_, issuing_.list[last++]);
      while (last < issuing_.list.size() && joins(issuing_.list[last]));
      if (issue_group(first, last)) {
        // Releases their references now, so that later groups see the remaining owners.
        for (; first < last; ++first) release(issuing_, issuing_.list[first]);
      } else {
        last_is_aside_ = last == issuing_.list.size();
        for (; first < last; ++first) put_aside(issuing_.list[first]);
      }
    }
  }

  // Builds the program of the instructions [first, last) that are being issued.
  void build(size_t first, size_t last) {
    program_.sizes.clear();
    program_.values.clear();
    program_.steps.clear();
    program_.may_move = program_.moved = false;
    GroupBuilder(issuing_, first, last, uses_, program_).build(stats_);
  }
  bool touches_lost(size_t first, size_t last) const {
    const auto lost = [](const Operand& o) { return o.storage->lost(); };
    for (size_t i = first; i < last; ++i) {
      const std::span<const Operand> ins = issuing_.ins(issuing_.list[i]);
      if (lost(issuing_.list[i].out) || std::any_of(ins.begin(), ins.end(), lost)) return true;
    }
    return false;
  }
  // Returns false, and runs nothing, if there is no memory.
  bool issue_group(size_t first, size_t last) {
    bool built = false;
    try {
      const Place place = issuing_.list[first].place;
      const PlaceScope on_place(place);
      build(first, last);
      built = true;
      const auto is_wanted = [](const ProgramValue& v) { return v.store; };
      if (!std::any_of(program_.values.begin(), program_.values.end(), is_wanted)) return true;
      program_runner(place.device.type())(program_);
      const Instr& only = issuing_.list[first];
      if (program_.moved) only.out.storage->swap_bytes(*issuing_.ins(only)[0].storage);
      ++stats_.groups;
      return true;
    } catch (const OutOfMemoryError&) {
      if (!built && !touches_lost(first, last)) {
        no_memory_ = std::current_exception();
        if (first >= retried_ && !failure_) failure_ = no_memory_;
        return false;
      }
      lose(first, last, std::current_exception());
    } catch (...) {
      lose(first, last, std::current_exception());
    }
    return true;
  }
  void lose(size_t first, size_t last, const std::exception_ptr& why) {
    if (!failure_) failure_ = why;
    for (size_t i = first; i < last; ++i) issuing_.list[i].out.storage->lose(why);
  }

  std::mutex mutex_;
  bool inherited_ = false;  // from the parent of this process, and not used since
  Instrs waiting_, issuing_;
  Instrs aside_;                  // in order, before what waits
  size_t retried_ = 0;            // of what is issued, so many were put aside before
  bool last_is_aside_ = false;    // whether the last instruction that was issued was put aside
  std::exception_ptr failure_;    // the first one that has not been thrown yet
  std::exception_ptr no_memory_;  // why the last group was put aside
  StorageUses uses_;              // of what is issued
  PointwiseProgram program_;      // of the group that is issued
  int64_t pending_bytes_ = 0;
  WindowStats stats_;
};

// Windows outlive their threads, because a storage of a finished thread may still point to one; they are reused.
class ThreadWindow {
 public:
  ThreadWindow() {
    PointwiseProgram nothing{.sizes = {1}, .values = {}, .steps = {}};
    program_runner(kCPU)(nothing);  // what issuing keeps per thread now outlives the window
    const std::lock_guard lock(mutex());
    if (idle().empty()) {
      window_ = new Window;
      all().push_back(window_);
    } else {
      window_ = idle().back();
      idle().pop_back();
    }
  }
  ~ThreadWindow() {
    try {
      window_->flush_ready();
    } catch (const std::exception& e) {  // also reported at access to the storages
      warn("a thread ended, and work that it had asked for failed: ", e.what());
    }
    const std::lock_guard lock(mutex());
    idle().push_back(window_);
  }
  Window& operator*() { return *window_; }

 private:
  static std::mutex& mutex() {
    static std::mutex& m = *[] {
      pthread_atfork([] { mutex().lock(); }, [] { mutex().unlock(); },
                     [] {
                       for (Window* const window : all()) window->inherit();
                       mutex().unlock();
                     });
      return new std::mutex;
    }();
    return m;
  }
  static std::vector<Window*>& all() {
    static std::vector<Window*>& v = *new std::vector<Window*>;
    return v;
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
  if (!issuing) (*thread_window()).flush_ready();
}
WindowStats window_stats() { return (*thread_window()).stats(); }
Stats stats() {
  Backend* gpu = loaded_accelerator();
  return {window_stats(), gpu ? gpu->issue_stats() : IssueStats{}};
}
void joint() {
  waited = false;
  Backend* gpu = loaded_accelerator();
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
  if (!t.is_accelerator()) return false;
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
