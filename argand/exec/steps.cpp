#include "argand/exec/steps.h"

#include <algorithm>

#include "argand/core/shape.h"

namespace argand::exec {
namespace {

void* const kAligned = reinterpret_cast<void*>(uintptr_t{4096});

// Memory for the duration of run().
class Buffers {
 public:
  Buffers(Allocator& allocator, const std::vector<size_t>& sizes) : allocator_(allocator), sizes_(sizes) {
    try {
      for (const size_t size : sizes_) data_.push_back(allocator_.allocate(size));
    } catch (...) {
      give_back();
      throw;
    }
  }
  ~Buffers() { give_back(); }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  void* operator[](size_t i) const { return data_[i]; }

 private:
  void give_back() noexcept {
    for (size_t i = 0; i < data_.size(); ++i) allocator_.deallocate(data_[i], sizes_[i]);
  }
  Allocator& allocator_;
  const std::vector<size_t>& sizes_;
  std::vector<void*> data_;
};

// The last step that reads each value; -1: none.
std::vector<int> last_reads(const PointwiseProgram& p) {
  std::vector<int> last(p.values.size(), -1);
  for (size_t s = 0; s < p.steps.size(); ++s)
    for (const int v : p.steps[s].ins) last[static_cast<size_t>(v)] = static_cast<int>(s);
  return last;
}

}  // namespace

Steps::Steps(const PointwiseProgram& p) {
  const std::vector<int> last = last_reads(p);
  constexpr size_t kNone = static_cast<size_t>(-1);
  std::vector<size_t> buffer_of(p.values.size(), kNone), idle;
  const size_t n = static_cast<size_t>(numel_of(p.sizes));
  const Dims dense = contiguous_strides(p.sizes);

  // Adds value v of the whole program to the program that is being made.
  const auto add = [&](int v, bool store) {
    PointwiseProgram& to = programs_.back();
    ProgramValue value = p.values[static_cast<size_t>(v)];
    if (const size_t buffer = buffer_of[static_cast<size_t>(v)]; buffer != kNone) {
      uses_.push_back({programs_.size() - 1, to.values.size(), buffer});
      value.memory = kAligned;
      value.strides = dense;
    }
    value.store = store;
    value.load = !store;
    value.dies = false;  // a later step may read it
    to.values.push_back(value);
    return static_cast<int>(to.values.size()) - 1;
  };

  for (size_t s = 0; s < p.steps.size(); ++s) {
    const ProgramStep& whole = p.steps[s];
    const auto out = static_cast<size_t>(whole.out);
    if (!p.values[out].store) {
      if (last[out] < 0) continue;
      if (idle.empty()) {
        idle.push_back(buffers_.size());
        buffers_.push_back(0);
      }
      buffer_of[out] = idle.back();
      idle.pop_back();
      size_t& nbytes = buffers_[buffer_of[out]];
      nbytes = std::max(nbytes, n * static_cast<size_t>(element_size(p.values[out].dtype)));
    }
    programs_.push_back({.sizes = p.sizes, .values = {}, .steps = {}});
    ProgramStep step = whole;
    for (int& v : step.ins) v = add(v, false);
    step.out = add(whole.out, true);
    programs_.back().steps.push_back(step);
    for (size_t v = 0; v < p.values.size(); ++v)
      if (buffer_of[v] != kNone && last[v] == static_cast<int>(s)) idle.push_back(buffer_of[v]);
  }
}

void Steps::run(Allocator& allocator, ProgramRunner runner) {
  const Buffers buffers(allocator, buffers_);
  for (const Use& u : uses_) programs_[u.program].values[u.value].memory = buffers[u.buffer];
  for (PointwiseProgram& p : programs_) runner(p);
}

}  // namespace argand::exec
