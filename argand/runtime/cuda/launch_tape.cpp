#include "argand/runtime/cuda/launch_tape.h"

#include <cstring>
namespace argand::cuda {
namespace {

constexpr size_t kMostRecords = 128;        // of a window: the device waits for the first until the last is there
constexpr size_t kFewestRecords = 4;        // for which a graph is quicker than launches
constexpr int kSeenBefore = 2;              // windows are issued before one like them is worth a graph
constexpr size_t kMostKnown = 1024;         // a program that never repeats stays small
constexpr int kMostInVain = 512;            // windows without a replay; then launches go straight through
constexpr int kRest = 4096;                 // for so many
constexpr uint64_t kLongThreads = 1 << 20;  // a kernel of so many threads runs for longer than a launch takes

bool overlap(const MemoryRange& a, const MemoryRange& b) {
  const auto *from_a = static_cast<const char*>(a.data), *from_b = static_cast<const char*>(b.data);
  return from_a < from_b + b.nbytes && from_b < from_a + a.nbytes;
}

bool fits(const EpilogueSlot& slot, const EpilogueOp& e) {
  if (e.in != slot.result || e.numel != slot.numel || e.dtype != slot.dtype) return false;
  const auto addresses = reinterpret_cast<uintptr_t>(e.argument.out) | reinterpret_cast<uintptr_t>(e.argument.mask);
  if (addresses % slot.alignment != 0) return false;
  const size_t nbytes = static_cast<size_t>(e.numel * element_size(e.dtype));
  const MemoryRange result{slot.result, nbytes}, out{e.argument.out, nbytes}, mask{e.argument.mask, nbytes};
  if (overlap(result, mask)) return false;
  if (overlap(result, out) && (e.argument.out != slot.result || e.argument.keep)) return false;
  for (const MemoryRange& other : slot.others)
    if (overlap(other, out)) return false;
  return true;
}

uint64_t threads_of(const Grid& g) { return uint64_t{g.blocks} * g.blocks_y * g.blocks_z * g.threads * g.threads_y; }

}  // namespace

void LaunchTape::add_kernel(const char* op, const void* function, const KernelParameters& parameters, const Grid& grid,
                            void* const* arguments, const EpilogueSlot* slot) {
  const std::lock_guard lock(mutex_);
  issue_long_work();
  const auto at = static_cast<uint32_t>(bytes_.size());
  bytes_.resize(at + (parameters.nbytes + 7) / 8 * 8);
  for (size_t i = 0; i < parameters.sizes.size(); ++i)
    std::memcpy(bytes_.data() + at + parameters.offsets[i], arguments[i], parameters.sizes[i]);
  add({op, function, &parameters, grid, nullptr, at, parameters.nbytes}, threads_of(grid) >= kLongThreads, slot);
}

bool LaunchTape::add_epilogue(const EpilogueOp& op) {
  const std::lock_guard lock(mutex_);
  if (!has_slot_ || !fits(slot_, op)) return false;
  const TapeRecord& r = records_.back();
  char* bytes = bytes_.data() + r.at;
  if (r.function) {
    std::memcpy(bytes + r.parameters->offsets.back(), &op.argument, sizeof op.argument);
  } else {
    if (!slot_.take(bytes, op.argument)) return false;
    key_.resize(key_before_);
    hash_ = hash_before_;
    append_call();
  }
  has_slot_ = false;
  issue_long_work();
  if (!records_.empty() && is_exposed(records_.back())) issue_window(FlushCause::kForeign);
  return true;
}

void LaunchTape::issue_long_work() {
  if (long_work_) issue_window(FlushCause::kLongWork);
}

void LaunchTape::add_call(const char* op, IssueCall call, const void* data, size_t nbytes, bool long_work,
                          const EpilogueSlot* slot) {
  const std::lock_guard lock(mutex_);
  issue_long_work();
  const auto at = static_cast<uint32_t>(bytes_.size());
  bytes_.resize(at + (nbytes + 7) / 8 * 8);
  std::memcpy(bytes_.data() + at, data, nbytes);
  add({op, nullptr, nullptr, {}, call, at, static_cast<uint32_t>(nbytes)}, long_work, slot);
}

void LaunchTape::add(const TapeRecord& record, bool long_work, const EpilogueSlot* slot) {
  ++stats_.launches;
  has_slot_ = false;
  if (!holds_back_ || resting_ > 0) {
    if (resting_ > 0) --resting_;
    const struct Forget {
      TapeBytes& bytes;
      ~Forget() { bytes.clear(); }
    } at_end{bytes_};
    return device_.issue(record, bytes_.data() + record.at);
  }
  records_.push_back(record);
  key_before_ = key_.size();
  hash_before_ = hash_;
  if (record.function) {
    const Grid& g = record.grid;
    const uint64_t words[] = {reinterpret_cast<uintptr_t>(record.function),  //
                              g.blocks | uint64_t{g.threads} << 32,          //
                              g.blocks_y | uint64_t{g.blocks_z} << 32,       //
                              g.threads_y | uint64_t{g.shared_memory} << 32};
    append_key(words, sizeof words);
  } else {
    append_call();
  }
  if (is_exposed(record)) {
    issue_window(FlushCause::kForeign);
  } else if (long_work && !slot) {
    issue_window(FlushCause::kLongWork);
  } else if (records_.size() == kMostRecords) {
    issue_window(FlushCause::kFull);
  } else if (slot) {
    slot_ = *slot;
    has_slot_ = true;
    long_work_ = long_work;
  }
}

// Appends the last record to the key.
void LaunchTape::append_call() {
  const TapeRecord& r = records_.back();
  const auto call = reinterpret_cast<uintptr_t>(r.call);
  append_key(&call, sizeof call);
  append_key(bytes_.data() + r.at, (r.nbytes + 7) / 8 * 8);
}

void LaunchTape::flush(FlushCause cause) {
  const std::lock_guard lock(mutex_);
  if (!records_.empty()) issue_window(cause);
}

void LaunchTape::hold_back(bool on) {
  const std::lock_guard lock(mutex_);
  if (!records_.empty()) issue_window(FlushCause::kForeign);
  if (on && !holds_back_) resting_ = windows_in_vain_ = 0;
  holds_back_ = on;
}

void LaunchTape::forget_graphs() {
  const std::lock_guard lock(mutex_);
  if (!records_.empty()) issue_window(FlushCause::kMemory);
  known_.clear();
}

IssueStats LaunchTape::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void LaunchTape::issue_window(FlushCause cause) {
  const struct Forget {
    LaunchTape& tape;
    ~Forget() {
      tape.records_.clear();
      tape.key_.clear();
      tape.hash_ = 0;
      tape.bytes_.clear();
      tape.has_slot_ = tape.long_work_ = false;
    }
  } at_end{*this};
  ++stats_.windows;
  ++stats_.flushes[static_cast<size_t>(cause)];
  if (records_.size() >= kFewestRecords && replay()) {
    windows_in_vain_ = 0;
    return;
  }
  if (++windows_in_vain_ == kMostInVain) {
    windows_in_vain_ = 0;
    resting_ = kRest;
  }
  size_t issued = 0;
  try {
    for (; issued < records_.size(); ++issued) device_.issue(records_[issued], bytes_.data() + records_[issued].at);
  } catch (...) {
    device_.lost(std::span(records_).subspan(issued), bytes_.data(), std::current_exception());
    throw;
  }
}

// Appends words of 8 bytes.  The hash is fast and weak, which is enough because keys are compared.
void LaunchTape::append_key(const void* data, size_t nbytes) {
  const size_t at = key_.size();
  key_.resize(at + nbytes);
  std::memcpy(key_.data() + at, data, nbytes);
  for (size_t i = 0; i < nbytes; i += 8) {
    uint64_t word;
    std::memcpy(&word, static_cast<const char*>(data) + i, 8);
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15u;
    hash_ ^= hash_ >> 32;
  }
}

// Sets the arguments of the graph's kernels to those of the window.
void LaunchTape::update(Known& known) {
  for (size_t i = 0; i < records_.size(); ++i) {
    const TapeRecord& r = records_[i];
    char* had = known.bytes.data() + r.at;
    if (!r.function || std::memcmp(had, bytes_.data() + r.at, r.nbytes) == 0) continue;
    known.graph->set_arguments(i, r, bytes_.data() + r.at);
    std::memcpy(had, bytes_.data() + r.at, r.nbytes);
    ++stats_.arguments_set;
  }
}

bool LaunchTape::replay() {
  if (known_.size() >= kMostKnown) {
    // Entries without a graph are erased first: if the memory of a step alternates, each window comes in several
    // variants.
    std::erase_if(known_, [](const auto& entry) { return entry.second.graph == nullptr; });
    if (known_.size() > kMostKnown / 2) known_.clear();
  }
  Known& known = known_[hash_];
  if (known.key != key_) {  // new, or another of the same hash
    known = {};
    known.key = key_;
  }
  if (known.refused || ++known.seen <= kSeenBefore) return false;
  try {
    if (launch(known)) return true;
  } catch (const std::exception&) {  // for example out of memory: continue without a graph
  }
  known.graph = nullptr;
  known.refused = true;
  return false;
}

bool LaunchTape::launch(Known& known) {
  if (!known.graph) {
    known.graph = device_.build(records_, bytes_.data());
    if (!known.graph) return false;
    known.bytes = bytes_;
    ++stats_.graphs_built;
  } else {
    update(known);
  }
  known.graph->launch();
  ++stats_.graph_launches;
  stats_.replayed += records_.size();
  return true;
}

}  // namespace argand::cuda
