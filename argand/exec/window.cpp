#include "argand/exec/window.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "argand/exec/place.h"
#include "argand/exec/program_runner.h"
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

// A tensor as an instruction sees it: strides over the instruction's shape.  Owns its storage.
struct Operand {
  StoragePtr storage;
  Dims strides;
  int64_t offset;
  ScalarType dtype;
  bool same_layout(const Operand& o) const { return offset == o.offset && dtype == o.dtype && strides == o.strides; }
  char* address() const { return static_cast<char*>(storage->issued_data()) + offset * element_size(dtype); }
};

struct Instr {
  Place place;
  const PointwiseInfo* info;
  ScalarType compute;
  Dims sizes;
  std::vector<Operand> ins;
  Operand out;
  Scalar scalars[kMaxScalars];
};

Operand make_operand(const Tensor& t, const Dims& sizes) {
  return {t.storage(), expanded_strides(t.sizes(), t.strides(), sizes), t.storage_offset(), t.dtype()};
}

// ---- from a group of instructions to a program

class GroupBuilder {
 public:
  explicit GroupBuilder(std::span<Instr> group) : group_(group) {
    for (const Instr& i : group) {
      ++owned_[i.out.storage.get()];
      for (const Operand& o : i.ins) ++owned_[o.storage.get()];
    }
  }

  PointwiseProgram build(WindowStats& stats) {
    program_.sizes = group_.front().sizes;
    for (const Instr& i : group_) {
      ProgramStep step;
      step.body = i.info;
      step.compute = i.compute;
      pack_scalars(i.scalars, i.info->num_scalars, i.compute, step.scalars);
      for (const Operand& o : i.ins) step.ins.push_back(read(o));
      step.out = write(i.out, i.info->name);
      program_.steps.push_back(step);
    }
    bind_results(stats);
    return std::move(program_);
  }

 private:
  struct Known {
    const Operand* operand;
    int value;
    bool loaded;
    const char* writer = "";
  };

  int add(const Operand& o) {
    const bool number = o.storage->device().is_cpu() && !group_.front().place.device.is_cpu();
    program_.values.push_back({.dtype = o.dtype, .memory = nullptr, .strides = o.strides, .number = number});
    return static_cast<int>(program_.values.size()) - 1;
  }
  int read(const Operand& o) {
    const auto [first, last] = known_.equal_range(o.storage.get());
    for (auto it = first; it != last; ++it)
      if (it->second.operand->same_layout(o)) return it->second.value;
    const int v = add(o);
    program_.values[v].memory = o.address();
    program_.values[v].load = true;
    known_.emplace(o.storage.get(), Known{&o, v, true});
    return v;
  }
  int write(const Operand& o, const char* op) {
    const int v = add(o);
    const auto [first, last] = known_.equal_range(o.storage.get());
    for (auto it = first; it != last; ++it) {
      if (!it->second.operand->same_layout(o)) continue;
      it->second = {&o, v, false, op};
      return v;
    }
    known_.emplace(o.storage.get(), Known{&o, v, false, op});
    return v;
  }
  // The last value of each written place goes to memory, unless only the group itself owns the storage.
  void bind_results(WindowStats& stats) {
    for (const auto& [storage, known] : known_) {
      if (known.loaded) continue;
      const bool temporary =
          !storage->allocated() && storage->use_count() == owned_.at(storage) + (mutant(Mutant::kElideOwned) ? 1 : 0);
      if (temporary) {
        ++stats.elided;
        continue;
      }
      const CurrentOp writer(known.writer);  // not the op that made the window issue
      program_.values[known.value].memory = known.operand->address();
      program_.values[known.value].store = true;
    }
  }

  std::span<Instr> group_;
  PointwiseProgram program_;
  std::unordered_map<StorageImpl*, uint32_t> owned_;
  std::unordered_multimap<StorageImpl*, Known> known_;
};

// Note [Alias rule]
bool may_join(std::span<const Instr> group, const Instr& next) {
  const auto clash = [](const Operand& a, const Operand& b) { return a.storage == b.storage && !a.same_layout(b); };
  if (!(group.front().sizes == next.sizes) || !(group.front().place == next.place)) return false;
  for (const Instr& member : group) {
    if (!mutant(Mutant::kNoWriteAfterWrite) && clash(member.out, next.out)) return false;
    for (const Operand& in : next.ins)
      if (!mutant(Mutant::kNoReadAfterWrite) && clash(member.out, in)) return false;
    for (const Operand& in : member.ins)
      if (!mutant(Mutant::kNoWriteAfterRead) && clash(in, next.out)) return false;
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
    Instr instr = make_instr(call);
    std::unique_lock lock(mutex_);
    while (PendingWork* other = claim(instr)) {
      lock.unlock();  // two windows that wait for each other would wait for ever
      other->flush();
      lock.lock();
    }
    pending_bytes_ += static_cast<int64_t>(instr.out.storage->allocated() ? 0 : instr.out.storage->nbytes());
    instrs_.push_back(std::move(instr));
    ++stats_.instructions;
    const int64_t most = instrs_.back().place.device.is_cpu() ? kWindowBytes : kGpuWindowBytes;
    if (instrs_.size() < kWindowInstructions && pending_bytes_ < most) return;
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

 private:
  static Instr make_instr(const PointwiseCall& call) {
    Instr instr{Place(call.out->device()),
                call.info,
                call.compute,
                Dims(call.out->sizes()),
                {},
                make_operand(*call.out, Dims(call.out->sizes())),
                {}};
    instr.ins.reserve(static_cast<size_t>(call.num_inputs));
    for (int i = 0; i < call.num_inputs; ++i) instr.ins.push_back(make_operand(*call.inputs[i], instr.sizes));
    std::copy(call.scalars, call.scalars + kMaxScalars, instr.scalars);
    return instr;
  }
  // Marks the storages of the instruction as pending here.  What waits on them in another thread's window happened
  // before, or reads them just now as this does: then nothing is marked, and that window is returned, to be flushed.  A
  // storage is pending in one window only, so that a write after all of them finds every reader.
  PendingWork* claim(const Instr& instr) {
    SmallVector<StorageImpl*, kMaxInputs + 1> fresh;
    const auto take = [&](const Operand& o) -> PendingWork* {
      if (mutant(Mutant::kNoForeignFlush)) o.storage->set_pending(nullptr);
      PendingWork* before = o.storage->claim(this);
      if (!before) fresh.push_back(o.storage.get());
      return before == this ? nullptr : before;
    };
    PendingWork* other = take(instr.out);
    for (size_t i = 0; i < instr.ins.size() && !other; ++i) other = take(instr.ins[i]);
    if (other)
      for (StorageImpl* s : fresh) s->set_pending(nullptr);
    return other;
  }
  void unmark(const Operand& o) {
    if (o.storage && o.storage->pending() == this) o.storage->set_pending(nullptr);
  }
  void unmark(const Instr& instr) {
    unmark(instr.out);
    for (const Operand& o : instr.ins) unmark(o);
  }

  void drop_last() {
    if (instrs_.empty()) return;
    Instr last = std::move(instrs_.back());
    instrs_.pop_back();
    release(last, instrs_, 0);
    count_pending_bytes();
  }
  void count_pending_bytes() {
    pending_bytes_ = 0;
    for (const Instr& i : instrs_)
      if (!i.out.storage->allocated()) pending_bytes_ += static_cast<int64_t>(i.out.storage->nbytes());
  }
  // The program of a group.  Without memory for a result nothing of the group has run: it waits on, with what follows.
  PointwiseProgram build(std::vector<Instr>& instrs, size_t first, size_t last) {
    try {
      return GroupBuilder({&instrs[first], last - first}).build(stats_);
    } catch (const OutOfMemoryError&) {
      instrs_.assign(std::make_move_iterator(instrs.begin() + static_cast<std::ptrdiff_t>(first)),
                     std::make_move_iterator(instrs.end()));
      instrs.clear();
      count_pending_bytes();
      throw;
    }
  }

  void flush_locked() {
    if (instrs_.empty()) return;
    const IssuingScope scope;
    ++stats_.flushes;
    std::vector<Instr> instrs = std::move(instrs_);
    instrs_.clear();
    pending_bytes_ = 0;
    // However issuing ends, nothing of this window may stay marked.
    struct Unmark {
      Window& window;
      std::vector<Instr>& instrs;
      ~Unmark() {
        for (const Instr& i : instrs) window.unmark(i);
      }
    } at_end{*this, instrs};
    for (size_t first = 0; first < instrs.size();) {
      size_t last = first + 1;
      while (last < instrs.size() && may_join({&instrs[first], last - first}, instrs[last])) ++last;
      const Place place = instrs[first].place;
      const PlaceScope on_place(place);
      program_runner(place.device.type())(build(instrs, first, last));
      ++stats_.groups;
      // Their references go now, so that later groups see who still owns what.
      for (; first < last; ++first) release(instrs[first], instrs, last);
    }
  }
  // A storage stays marked while a later instruction of the window uses it.  Once unmarked it may be claimed by another
  // window at any moment, so only this window's own mark is ever taken away.
  void release(Instr& instr, const std::vector<Instr>& all, size_t next) {
    const auto used_later = [&](const StorageImpl* s) {
      return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(next), all.end(), [&](const Instr& i) {
        return i.out.storage.get() == s ||
               std::any_of(i.ins.begin(), i.ins.end(), [&](const Operand& o) { return o.storage.get() == s; });
      });
    };
    const auto leave = [&](Operand& o) {
      if (!used_later(o.storage.get())) unmark(o);
      o.storage.reset();
    };
    leave(instr.out);
    for (Operand& o : instr.ins) leave(o);
    instr.ins.clear();
  }

  std::mutex mutex_;
  std::vector<Instr> instrs_;
  int64_t pending_bytes_ = 0;
  WindowStats stats_;
};

// Windows outlive their threads, because a storage of a finished thread may still point to one; they are used again.
class ThreadWindow {
 public:
  ThreadWindow() {
    program_runner(kCPU)(
        {.sizes = {1}, .values = {}, .steps = {}});  // what issuing keeps per thread now outlives the window
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
  Backend* gpu = loaded_backend(kCUDA);
  if (!gpu) return;
  flush();
  gpu->joint();
}
void set_window_mutant(Mutant m) { active_mutant.store(m, std::memory_order_relaxed); }

bool window_takes(const PointwiseCall& call) {
  if (thread_mode == WindowMode::kEager) return false;
  if (thread_mode == WindowMode::kAuto && call.out->is_cpu() && call.out->numel() < kWindowMinElements) return false;
  if (call.out->numel() == 0) return false;
  if (call.out->storage()->exposed() && !mutant(Mutant::kKeepExposed)) return false;
  for (int i = 0; i < call.num_inputs; ++i)
    if (call.inputs[i]->storage()->exposed() && !mutant(Mutant::kReadExposedLate)) return false;
  (*thread_window()).push(call);
  return true;
}

}  // namespace argand::exec
