#include "tests/sim/backend.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "argand/base/error.h"
#include "argand/core/cpu_generator.h"
#include "argand/core/storage.h"
#include "argand/exec/program_runner.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cpu/matrix_product.h"
#include "argand/kernels/cpu/sequence.h"
#include "argand/kernels/cpu/softmax.h"
#include "tests/sim/linear_algebra.h"
#include "tests/sim/memory.h"
#include "tests/sim/order.h"

namespace argand::sim {
namespace {

DeviceType type = kCUDA;  // of the devices

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
thread_local void* t_streams[kDevices] = {};

Queue current(int device) { return {device, t_streams[device]}; }

class DeviceMemory final : public Allocator {
 public:
  explicit DeviceMemory(int device) : device_(type, static_cast<DeviceIndex>(device)) {}
  void* allocate(size_t nbytes) override {
    ARGAND_CHECK(OutOfMemoryError, !fails_now() && nbytes <= largest_block, "out of memory: planted, for ", nbytes,
                 " bytes");
    void* const data = Memory::get().allocate(nbytes);
    ARGAND_CHECK(OutOfMemoryError, data, "out of memory: ", nbytes, " bytes");
    Order::get().allocated(data, nbytes);
    return data;
  }
  void deallocate(void* data, size_t nbytes) noexcept override {
    Order::get().freed(data);
    Memory::get().deallocate(data, nbytes);
  }
  Device device() const override { return device_; }

 private:
  Device device_;
};

// The host's memory, which has nothing to gain from being page-locked here.
class PinnedMemory final : public Allocator {
 public:
  void* allocate(size_t nbytes) override { return allocator_for(kCPU).allocate(nbytes); }
  void deallocate(void* data, size_t nbytes) noexcept override { allocator_for(kCPU).deallocate(data, nbytes); }
  Device device() const override { return kCPU; }
  bool pinned() const override { return true; }
};

// Counts the draws.
class SimGenerator final : public GeneratorImpl {
 public:
  explicit SimGenerator(const Device& device) : GeneratorImpl(device) {}
  void set_current_seed(uint64_t seed) override { seed_ = seed, draws_ = 0; }
  uint64_t current_seed() const override { return seed_; }
  std::vector<uint8_t> state() const override {
    std::vector<uint8_t> bytes(16);
    std::memcpy(bytes.data(), &seed_, 8);
    std::memcpy(bytes.data() + 8, &draws_, 8);
    return bytes;
  }
  void set_state(const std::vector<uint8_t>& bytes) override {
    ARGAND_CHECK(ValueError, bytes.size() == 16, "Generator: expected a state of 16 bytes, got ", bytes.size());
    std::memcpy(&seed_, bytes.data(), 8);
    std::memcpy(&draws_, bytes.data() + 8, 8);
  }
  uint64_t take_seed() override { return seed_ + 0x9e3779b97f4a7c15 * ++draws_; }
  intrusive_ptr<GeneratorImpl> clone() const override {
    auto copy = make_intrusive<SimGenerator>(device());
    copy->set_state(state());
    return copy;
  }

 private:
  uint64_t seed_ = kDefaultSeed, draws_ = 0;
};

Generator generator(DeviceIndex index) {
  Generator g(make_intrusive<SimGenerator>(Device(type, index)));
  add_default_generator(g);
  return g;
}

struct SimEvent {
  Clock clock;
  std::chrono::steady_clock::time_point at;
};

class SimBackend final : public Backend {
 public:
  int device_count() override { return kDevices; }
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
  Generator& default_generator(DeviceIndex index) override {
    static auto& generators = *new std::vector<Generator>{generator(0), generator(1), generator(2)};
    return generators.at(static_cast<size_t>(index));
  }
  std::string versions() override { return ""; }
  BackendVersions version_numbers() override { return {}; }

  Allocator& allocator(DeviceIndex index) override {
    static auto& memory = *new std::vector<DeviceMemory>{DeviceMemory(0), DeviceMemory(1), DeviceMemory(2)};
    ARGAND_CHECK(DeviceError, index < kDevices, "there is no device ", type, ":", static_cast<int>(index));
    return memory.at(static_cast<size_t>(index));
  }
  Allocator& pinned_allocator() override {
    static auto& memory = *new PinnedMemory;
    return memory;
  }
  void empty_cache() override {}
  MemoryMonitor& memory(DeviceIndex) override { none("statistics"); }
  MemoryStatsMap pinned_stats() override { return {}; }
  void copy(void* to, const Device& to_device, const void* from, const Device& from_device, size_t nbytes,
            bool) override {
    Order& order = Order::get();
    if (to_device.is_accelerator() && from_device.is_accelerator()) {
      const Queue source = current(from_device.index()), target = current(to_device.index());
      order.after(source, order.now(target));
      order.work(source, {from}, {to});
      order.after(target, order.now(source));
    } else {
      order.work(current(to_device.is_accelerator() ? to_device.index() : from_device.index()), {from}, {to});
    }
    std::memcpy(Memory::get().inside(to), Memory::get().inside(from), nbytes);
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
  EventHandle make_event(DeviceIndex, bool) override { return new SimEvent; }
  void destroy_event(EventHandle event) noexcept override { delete static_cast<SimEvent*>(event); }
  void record(EventHandle event, const StreamRef& s) override {
    *static_cast<SimEvent*>(event) = {Order::get().now({s.device, s.handle}), std::chrono::steady_clock::now()};
  }
  void wait(const StreamRef& s, EventHandle event) override {
    Order::get().after({s.device, s.handle}, static_cast<SimEvent*>(event)->clock);
  }
  bool query(EventHandle) override { return true; }
  void synchronize(EventHandle) override {}
  float elapsed_time(EventHandle from, EventHandle to) override {
    const auto at = [](EventHandle e) { return static_cast<SimEvent*>(e)->at; };
    return std::chrono::duration<float, std::milli>(at(to) - at(from)).count();
  }

  void joint() override {}
  void give_handle(const StreamRef&) override {}
  void set_replay_enabled(bool) override {}
  IssueStats issue_stats() override { return {}; }
  std::unique_ptr<DeviceGraph> make_graph() override { none("graphs"); }
  bool is_capturing() override { return false; }

 private:
  [[noreturn]] static void none(const char* what) {
    ARGAND_THROW(NotImplementedError, "pretended devices have no ", what);
  }
};

// ---- blocks: the CPU's code, on the device's memory

void note(const std::vector<const void*>& reads, const std::vector<const void*>& writes) {
  Order::get().work(current(t_device), reads, writes);
}
template <class T>
T* inside(T* p) {
  return Memory::get().inside(p);
}

void run_program(PointwiseProgram& program) {
  ARGAND_CHECK(DeviceError, !fails_now(), program.steps.back().body->name, ": planted failure of a launch");
  std::vector<const void*> reads, writes;
  for (ProgramValue& v : program.values) {
    if (v.load && !v.number) reads.push_back(v.memory);
    if (v.store) writes.push_back(v.memory);
    v.memory = inside(v.memory);
  }
  note(reads, writes);
  exec::program_runner(kCPU)(program);
}

void put_numbers(const int64_t* from, int64_t count, int64_t* to) {
  note({}, {to});
  std::copy_n(from, count, inside(to));
}

void fill_sequence(const Sequence& sequence, ScalarType dtype, void* out, int64_t n) {
  note({}, {out});
  cpu::fill_sequence(sequence, dtype, inside(out), n);
}

void matrix_product(const MatrixProduct& product) {
  MatrixProduct p = product;
  note({p.a.data, p.b.data, p.bias}, {p.c});
  p.a.data = inside(p.a.data);
  p.b.data = inside(p.b.data);
  p.bias = inside(p.bias);
  p.c = inside(p.c);
  cpu::matrix_product(p);
}

void softmax(bool log, const void* in, void* out, ScalarType dtype, const SoftmaxShape& shape) {
  note({in}, {out});
  cpu::softmax(log, inside(in), inside(out), dtype, shape);
}

void softmax_backward(bool log, const void* grad, const void* result, void* out, ScalarType dtype,
                      const SoftmaxShape& shape) {
  note({grad, result}, {out});
  cpu::softmax_backward(log, inside(grad), inside(result), inside(out), dtype, shape);
}

}  // namespace

void register_devices(DeviceType of) {
  type = of;
  if (type == kPrivateUse1) register_privateuse1_backend("sim");
  register_backend(type, *new SimBackend);
  exec::register_program_runner(type, run_program);
  blocks::put_numbers.set(type, put_numbers);
  blocks::fill_sequence.set(type, fill_sequence);
  blocks::matrix_product.set(type, matrix_product);
  blocks::softmax.set(type, softmax);
  blocks::softmax_backward.set(type, softmax_backward);
  register_linear_algebra(type, note);
}

int plant_failure(int number, Failing how) {
  goes_on_failing = how == Failing::kFromThenOn;
  failing_step = number;
  return steps_done.exchange(0);
}

void refuse_calls(bool on) { t_refuses = on; }
void set_largest_block(size_t nbytes) { largest_block = nbytes; }

std::vector<std::string> take_races() { return Order::get().take(); }

}  // namespace argand::sim
