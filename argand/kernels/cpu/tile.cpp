#include "argand/kernels/cpu/tile.h"

#include <algorithm>

#include "argand/core/shape.h"
#include "argand/kernels/cpu/gather.h"
#include "argand/kernels/cpu/transpose.h"
#include "argand/runtime/cpu/aligned_allocator.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

// ---- planning: which buffer holds what, when

enum class Access { kDirect, kConstant, kStrided, kCache };

struct Action {  // one thing done per tile
  enum Kind { kGather, kConvert, kLoop, kScatter } kind;
  int index;  // value (gather, scatter), conversion or step
};
struct Conversion {
  int value;
  ScalarType to;
  int buffer;
  bool from_step;  // true: `buffer` (compute type) -> value; false: value -> `buffer`
};
struct StepPlan {
  SmallVector<int, kMaxStepInputs> in_conversions;  // -1: the value's own tile
  int out_conversion = -1;
};

struct Plan {
  PointwiseProgram program;
  std::vector<Access> access;
  std::vector<int> buffer_of;  // per value; -1: memory itself
  std::vector<Conversion> conversions;
  std::vector<StepPlan> steps;
  std::vector<Action> actions;
  int buffers = 0;
};

Access access_of(const ProgramValue& v, const Dims& sizes) {
  if (!v.memory) return Access::kCache;
  if (std::all_of(v.strides.begin(), v.strides.end(), [](int64_t s) { return s == 0; }) && !v.store)
    return Access::kConstant;
  return is_contiguous(sizes, v.strides) ? Access::kDirect : Access::kStrided;
}

// Buffers are assigned and reused as values begin and end to be used, so that a long chain stays in L1.
class BufferPool {
 public:
  int take() {
    if (free_.empty()) return count_++;
    const int b = free_.back();
    free_.pop_back();
    return b;
  }
  void give(int b) { free_.push_back(b); }
  int count() const { return count_; }

 private:
  std::vector<int> free_;
  int count_ = 0;
};

class Planner {
 public:
  explicit Planner(PointwiseProgram program) {
    plan_.program = std::move(program);
    const auto& p = plan_.program;
    last_use_.assign(p.values.size(), -1);
    for (size_t s = 0; s < p.steps.size(); ++s) {
      for (const int v : p.steps[s].ins) last_use_[v] = static_cast<int>(s);
      last_use_[p.steps[s].out] = std::max(last_use_[p.steps[s].out], static_cast<int>(s));
    }
    plan_.buffer_of.assign(p.values.size(), -1);
    for (const auto& v : p.values) plan_.access.push_back(access_of(v, p.sizes));
  }

  Plan make() {
    auto& p = plan_.program;
    for (size_t v = 0; v < p.values.size(); ++v) {
      // Constants are filled once and keep their buffer for the whole run.
      if (plan_.access[v] == Access::kConstant) plan_.buffer_of[v] = pool_.take();
      if (p.values[v].load && plan_.access[v] == Access::kStrided) {
        plan_.buffer_of[v] = pool_.take();
        plan_.actions.push_back({Action::kGather, static_cast<int>(v)});
      }
    }
    for (size_t s = 0; s < p.steps.size(); ++s) plan_step(static_cast<int>(s));
    plan_.buffers = pool_.count();
    return std::move(plan_);
  }

 private:
  void plan_step(int s) {
    const ProgramStep& step = plan_.program.steps[s];
    StepPlan& sp = plan_.steps.emplace_back();
    SmallVector<int, kMaxStepInputs> temporary;
    for (const int v : step.ins) {
      int conversion = -1;
      if (plan_.program.values[v].dtype != step.compute) {
        conversion = static_cast<int>(plan_.conversions.size());
        plan_.conversions.push_back({v, step.compute, pool_.take(), false});
        temporary.push_back(plan_.conversions.back().buffer);
        plan_.actions.push_back({Action::kConvert, conversion});
      }
      sp.in_conversions.push_back(conversion);
    }
    const int out = step.out;
    const ProgramValue& value = plan_.program.values[out];
    if (plan_.access[out] != Access::kDirect) plan_.buffer_of[out] = pool_.take();
    if (value.dtype != step.compute) {
      sp.out_conversion = static_cast<int>(plan_.conversions.size());
      plan_.conversions.push_back({out, step.compute, pool_.take(), true});
      temporary.push_back(plan_.conversions.back().buffer);
    }
    plan_.actions.push_back({Action::kLoop, s});
    if (sp.out_conversion >= 0) plan_.actions.push_back({Action::kConvert, sp.out_conversion});
    if (value.store && plan_.access[out] == Access::kStrided) plan_.actions.push_back({Action::kScatter, out});
    for (const int b : temporary) pool_.give(b);
    release_dead(s);
  }

  void release_dead(int s) {
    for (size_t v = 0; v < last_use_.size(); ++v) {
      if (last_use_[v] != s || plan_.buffer_of[v] < 0 || plan_.access[v] == Access::kConstant) continue;
      pool_.give(plan_.buffer_of[v]);
      last_use_[v] = -2;
    }
  }

  Plan plan_;
  BufferPool pool_;
  std::vector<int> last_use_;
};

// ---- running

// Scratch of one thread, kept between calls.
class Scratch {
 public:
  ~Scratch() {
    if (data_) deallocate_aligned(data_, capacity_);
  }
  char* reserve(size_t bytes) {
    if (bytes > capacity_) {
      if (data_) deallocate_aligned(data_, capacity_);
      data_ = nullptr;
      capacity_ = 0;
      data_ = static_cast<char*>(allocate_aligned(bytes));
      capacity_ = bytes;
    }
    return data_;
  }

 private:
  char* data_ = nullptr;
  size_t capacity_ = 0;
};
thread_local Scratch scratch;

inline constexpr int64_t kBufferBytes = kTile * 16;

class Runner {
 public:
  Runner(const Plan& plan, int64_t width)
      : plan_(plan), p_(plan.program), buffers_(scratch.reserve(static_cast<size_t>(plan.buffers * kBufferBytes))) {
    for (size_t v = 0; v < p_.values.size(); ++v)
      if (plan_.access[v] == Access::kConstant)
        gather(p_.values[v].memory, p_.sizes, p_.values[v].strides, element_size(p_.values[v].dtype), 0, width,
               buffer(plan_.buffer_of[v]));
  }

  void tile(int64_t first, int64_t n) {
    for (const Action& a : plan_.actions) {
      switch (a.kind) {
        case Action::kGather: {
          const ProgramValue& v = p_.values[a.index];
          gather(v.memory, p_.sizes, v.strides, element_size(v.dtype), first, n, value(a.index, first));
          break;
        }
        case Action::kConvert: {
          const Conversion& c = plan_.conversions[a.index];
          void* tile = value(c.value, first);
          const ScalarType dtype = p_.values[c.value].dtype;
          if (c.from_step)
            convert_elements(buffer(c.buffer), c.to, tile, dtype, n);
          else
            convert_elements(tile, dtype, buffer(c.buffer), c.to, n);
          break;
        }
        case Action::kLoop:
          loop(a.index, first, n);
          break;
        case Action::kScatter: {
          const ProgramValue& v = p_.values[a.index];
          scatter(v.memory, p_.sizes, v.strides, element_size(v.dtype), first, n, value(a.index, first));
          break;
        }
      }
    }
  }

 private:
  void loop(int s, int64_t first, int64_t n) {
    const ProgramStep& step = p_.steps[s];
    const StepPlan& sp = plan_.steps[s];
    const void* ins[kMaxStepInputs];
    for (size_t i = 0; i < step.ins.size(); ++i) {
      const int c = sp.in_conversions[i];
      ins[i] = c >= 0 ? buffer(plan_.conversions[c].buffer) : value(step.ins[i], first);
    }
    void* out = sp.out_conversion >= 0 ? buffer(plan_.conversions[sp.out_conversion].buffer) : value(step.out, first);
    step.body->loops[compute_index(step.compute)](out, ins, step.scalars, n);
  }
  char* buffer(int b) const { return buffers_ + b * kBufferBytes; }
  void* value(int v, int64_t first) const {
    const int b = plan_.buffer_of[v];
    return b >= 0 ? buffer(b) : static_cast<char*>(p_.values[v].memory) + first * element_size(p_.values[v].dtype);
  }

  const Plan& plan_;
  const PointwiseProgram& p_;
  char* buffers_;
};

// A program that is only a copy between two orders of dimensions (for any op).
bool copies_transposed(const PointwiseProgram& p) {
  if (p.steps.size() != 1 || p.steps[0].body->kind != BodyKind::kIdentity) return false;
  const ProgramValue &from = p.values[p.steps[0].ins[0]], &to = p.values[p.steps[0].out];
  return from.dtype == to.dtype && from.memory && from.load && to.memory && to.store && from.memory != to.memory &&
         copy_transposed(p.sizes, element_size(to.dtype), from.memory, from.strides, to.memory, to.strides);
}

}  // namespace

void run_tiles(PointwiseProgram& program) {
  int64_t n = 1;
  for (const int64_t s : program.sizes) n *= s;
  if (n == 0) return;
  collapse(program);
  if (copies_transposed(program)) return;
  const Plan plan = Planner(std::move(program)).make();
  parallel_for(0, n, kTileGrain, [&](int64_t begin, int64_t end) {
    Runner runner(plan, std::min(kTile, n));
    for (int64_t at = begin; at < end; at += kTile) runner.tile(at, std::min(kTile, end - at));
  });
}

}  // namespace argand::cpu
