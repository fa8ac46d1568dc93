#include "tests/devices/pretended_gpus.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "argand/base/error.h"
#include "argand/core/storage.h"
#include "argand/exec/program_runner.h"
#include "argand/kernels/blocks.h"

namespace argand::testing {
namespace {

// ---- the order of work: vector clocks (Mattern, 1989), one component per stream

using Queue = std::pair<int, void*>;  // device, stream
using Clock = std::map<Queue, uint64_t>;

class Order {
 public:
  static Order& get() {
    static Order& order = *new Order;
    return order;
  }
  void allocated(const void* data, size_t nbytes) {
    const std::lock_guard lock(mutex_);
    blocks_[static_cast<const char*>(data)] = {nbytes, {}, 0, {}};
  }
  void freed(const void* data) {
    const std::lock_guard lock(mutex_);
    blocks_.erase(static_cast<const char*>(data));
  }
  void work(const Queue& queue, const std::vector<const void*>& reads, const std::vector<const void*>& writes) {
    const std::lock_guard lock(mutex_);
    Clock& now = clocks_[queue];
    ++now[queue];
    for (const void* p : reads)
      if (Block* b = block_at(p)) {
        check(queue, b->writer, b->written, "reads what", "wrote");
        b->readers[queue] = now[queue];
      }
    for (const void* p : writes)
      if (Block* b = block_at(p)) {
        check(queue, b->writer, b->written, "overwrites what", "wrote");
        for (const auto& [reader, when] : b->readers) check(queue, reader, when, "overwrites what", "reads");
        b->writer = queue;
        b->written = now[queue];
        b->readers.clear();
      }
  }
  Clock now(const Queue& queue) {
    const std::lock_guard lock(mutex_);
    return clocks_[queue];
  }
  void after(const Queue& queue, const Clock& event) {
    const std::lock_guard lock(mutex_);
    Clock& mine = clocks_[queue];
    for (const auto& [q, when] : event) mine[q] = std::max(mine[q], when);
  }
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(races_, {});
  }

 private:
  struct Block {
    size_t nbytes;
    Queue writer;
    uint64_t written;
    Clock readers;
  };
  Block* block_at(const void* p) {
    auto after = blocks_.upper_bound(static_cast<const char*>(p));
    if (after == blocks_.begin()) return nullptr;
    auto& [start, block] = *std::prev(after);
    return static_cast<const char*>(p) < start + block.nbytes ? &block : nullptr;
  }
  void check(const Queue& queue, const Queue& other, uint64_t when, const char* does, const char* did) {
    if (clocks_[queue][other] >= when) return;
    races_.push_back(str("stream ", name(queue), " ", does, " stream ", name(other), " ", did, ", and does not wait"));
  }
  static std::string name(const Queue& q) { return str(q.first, ":", reinterpret_cast<uintptr_t>(q.second)); }

  std::mutex mutex_;
  std::map<const char*, Block> blocks_;
  std::map<Queue, Clock> clocks_;
  std::vector<std::string> races_;
};

// ---- planted failures

std::atomic<int> steps_done{0}, failing_step{0};
std::atomic<bool> goes_on_failing{false};
std::atomic<size_t> largest_block{SIZE_MAX};

bool fails_now() {
  const int step = ++steps_done, failing = failing_step;
  return failing > 0 && (step == failing || (goes_on_failing && step > failing));
}

// ---- the backend

thread_local DeviceIndex t_device = 0;
thread_local bool t_refuses = false;
void check_call() { ARGAND_CHECK(DeviceError, !t_refuses, "the pretended process is ending"); }
thread_local void* t_streams[kPretendedGpus] = {};

Queue current(int device) { return {device, t_streams[device]}; }

class PretendedMemory final : public Allocator {
 public:
  explicit PretendedMemory(int device) : device_(kCUDA, static_cast<DeviceIndex>(device)) {}
  void* allocate(size_t nbytes) override {
    ARGAND_CHECK(OutOfMemoryError, !fails_now() && nbytes <= largest_block, "out of memory: planted, for ", nbytes,
                 " bytes");
    void* data = std::aligned_alloc(64, (nbytes + 63) / 64 * 64);
    Order::get().allocated(data, nbytes);
    return data;
  }
  void deallocate(void* data, size_t) noexcept override {
    Order::get().freed(data);
    std::free(data);
  }
  Device device() const override { return device_; }

 private:
  Device device_;
};

class PretendedGpus final : public Backend {
 public:
  int device_count() override { return kPretendedGpus; }
  DeviceIndex current_device() override {
    check_call();
    return t_device;
  }
  void set_device(DeviceIndex index) override {
    check_call();
    t_device = index;
  }
  void restore_device(DeviceIndex index) noexcept override { t_device = index; }
  DeviceProperties properties(DeviceIndex) override { return {.name = "pretended"}; }
  bool can_access_peer(DeviceIndex from, DeviceIndex to) override { return from != to; }
  void synchronize(DeviceIndex) override {}
  Generator& default_generator(DeviceIndex) override { none("random numbers"); }
  std::string versions() override { return ""; }
  BackendVersions version_numbers() override { return {}; }

  Allocator& allocator(DeviceIndex index) override {
    static auto& memory = *new std::vector<PretendedMemory>{PretendedMemory(0), PretendedMemory(1), PretendedMemory(2)};
    ARGAND_CHECK(DeviceError, index < kPretendedGpus, "there is no device cuda:", static_cast<int>(index));
    return memory.at(static_cast<size_t>(index));
  }
  Allocator& pinned_allocator() override { return allocator_for(kCPU); }
  void empty_cache() override {}
  MemoryMonitor& memory(DeviceIndex) override { none("statistics"); }
  MemoryStatsMap pinned_stats() override { return {}; }
  void copy(void* to, const Device& to_device, const void* from, const Device& from_device, size_t nbytes,
            bool) override {
    Order& order = Order::get();
    if (to_device.is_cuda() && from_device.is_cuda()) {
      const Queue source = current(from_device.index()), target = current(to_device.index());
      order.after(source, order.now(target));
      order.work(source, {from}, {to});
      order.after(target, order.now(source));
    } else {
      order.work(current(to_device.is_cuda() ? to_device.index() : from_device.index()), {from}, {to});
    }
    std::memcpy(to, from, nbytes);
  }

  StreamRef current_stream(DeviceIndex device) override {
    check_call();
    return {device, t_streams[device]};
  }
  void set_current_stream(const StreamRef& stream) noexcept override {
    if (stream.handle) StorageImpl::side_streams = true;
    t_streams[stream.device] = stream.handle;
  }
  StreamRef stream_from_pool(DeviceIndex device, int) override {
    static std::atomic<uintptr_t> next{1};
    return {device, reinterpret_cast<void*>(next++)};
  }
  bool query(const StreamRef&) override { return true; }
  void synchronize(const StreamRef&) override {}
  EventHandle make_event(DeviceIndex, bool) override { return new Clock; }
  void destroy_event(EventHandle event) noexcept override { delete static_cast<Clock*>(event); }
  void record(EventHandle event, const StreamRef& s) override {
    *static_cast<Clock*>(event) = Order::get().now({s.device, s.handle});
  }
  void wait(const StreamRef& s, EventHandle event) override {
    Order::get().after({s.device, s.handle}, *static_cast<Clock*>(event));
  }
  bool query(EventHandle) override { return true; }
  void synchronize(EventHandle) override {}
  float elapsed_time(EventHandle, EventHandle) override { return 0; }

  void joint() override {}
  void give_handle(const StreamRef&) override {}
  void set_replay_enabled(bool) override {}
  IssueStats issue_stats() override { return {}; }
  std::unique_ptr<DeviceGraph> make_graph() override { none("graphs"); }
  bool is_capturing() override { return false; }

 private:
  [[noreturn]] static void none(const char* what) {
    ARGAND_THROW(NotImplementedError, "pretended GPUs have no ", what);
  }
};

void run_program(PointwiseProgram& program) {
  ARGAND_CHECK(DeviceError, !fails_now(), program.steps.back().body->name, ": planted failure of a launch");
  std::vector<const void*> reads, writes;
  for (const ProgramValue& v : program.values) {
    if (v.load && !v.number) reads.push_back(v.memory);
    if (v.store) writes.push_back(v.memory);
  }
  Order::get().work(current(t_device), reads, writes);
  exec::program_runner(kCPU)(program);
}

void put_numbers(const int64_t* from, int64_t count, int64_t* to) {
  Order::get().work(current(t_device), {}, {to});
  std::copy_n(from, count, to);
}

}  // namespace

void register_pretended_gpus() {
  static PretendedGpus& gpus = *new PretendedGpus;
  register_backend(kCUDA, gpus);
  exec::register_program_runner(kCUDA, run_program);
  blocks::put_numbers.set(kCUDA, put_numbers);
}

int plant_failure(int number, Failing how) {
  goes_on_failing = how == Failing::kFromThenOn;
  failing_step = number;
  return steps_done.exchange(0);
}

void refuse_calls(bool on) { t_refuses = on; }
void set_largest_block(size_t nbytes) { largest_block = nbytes; }

std::vector<std::string> take_races() { return Order::get().take(); }

}  // namespace argand::testing
