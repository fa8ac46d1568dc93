#include "argand/runtime/cuda/caching_allocator.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "argand/base/error.h"
#include "argand/runtime/cuda/guard.h"
#include "argand/runtime/cuda/memory_report.h"

namespace argand::cuda {
namespace {

size_t round_up(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

template <class F>
void for_each_counter(MemoryStats& stats, F&& f) {
  for (PoolStats* pool : {&stats.all, &stats.small, &stats.large})
    for (Counter* counter : {&pool->allocation, &pool->allocated_bytes, &pool->requested_bytes, &pool->active,
                             &pool->active_bytes, &pool->segment, &pool->reserved_bytes})
      f(*counter);
}

// Allocations by the pressure callback must not call it again.
thread_local bool t_relieving_pressure = false;

}  // namespace

int64_t now_us() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

CachingAllocator::CachingAllocator(DeviceMemory& device, std::string device_name)
    : device_(device),
      device_name_(std::move(device_name)),
      total_bytes_(device.total_bytes()),
      budget_{device, total_bytes_},
      events_(device) {}

CachingAllocator::~CachingAllocator() { device_.synchronize(); }

size_t CachingAllocator::capacity() const { return std::min(total_bytes_, budget_.limit); }

PoolId CachingAllocator::pool_id(StreamHandle stream) const {
  for (const ActivePool& active : active_)
    if (active.stream == stream) return active.id;
  return kSharedPool;
}

BlockPool& CachingAllocator::pool_of(StreamHandle stream, size_t size) {
  const PoolId id = pool_id(stream);
  const bool is_small = size <= kSmallBlock;
  for (const auto& pools : pools_) {
    const PoolKey& key = pools->small.key();
    if (key.stream == stream && key.id == id) return is_small ? pools->small : pools->large;
  }
  const size_t granularity = device_.granularity();
  // Addresses cost nothing, so each range can hold all the memory of the device.
  auto& pools = *pools_.emplace_back(new StreamPools{
      {budget_, {id, stream, true}, round_up(kSmallPage, granularity), total_bytes_},
      {budget_, {id, stream, false}, round_up(kLargePage, granularity), total_bytes_},
  });
  return is_small ? pools.small : pools.large;
}

void* CachingAllocator::allocate(size_t nbytes, StreamHandle stream) {
  if (nbytes == 0) return nullptr;
  Request request{nbytes, stream, {}};
  if (const HolderSource source = holder_source_.load(std::memory_order_relaxed)) source(request.holder, nbytes);
  std::unique_lock lock(mutex_);
  if (fail_countdown_ > 0 && --fail_countdown_ == 0) {
    relieve_pressure(lock);
    throw_out_of_memory(request);
  }
  if (nbytes > capacity()) throw_out_of_memory(request);
  const bool guarded = guard_ && pool_id(stream) == kSharedPool;
  const size_t size = round_up(nbytes, kBlockAlignment) + (guarded ? 2 * kCanaryBytes : 0);
  Block* block = pool_of(stream, size).take(size);
  if (block == nullptr) [[unlikely]] {
    block = find_memory(lock, stream, size);
    if (block == nullptr) throw_out_of_memory(request);
  }
  hand_out(block, request, guarded);
  return block->data;
}

void CachingAllocator::hand_out(Block* block, const Request& request, bool guarded) {
  block->data = block->address + (guarded ? kCanaryBytes : 0);
  block->requested = request.nbytes;
  block->sequence = sequence_++;
  block->guarded = guarded;
  block->holder = request.holder;
  live_.grow_if_full();
  live_.insert(block);
  for (PoolStats* stats : {&stats_.all, &stats_of(*block->pool)}) {
    stats->allocation.increase(1);
    stats->allocated_bytes.increase(block->size);
    stats->requested_bytes.increase(block->requested);
    stats->active.increase(1);
    stats->active_bytes.increase(block->size);
  }
  trace(TraceAction::kAllocate, block->data, block->size, request.stream, request.holder.op);
  if (guarded) write_guards(device_, *block, request.stream);
}

Block* CachingAllocator::take_or_grow(StreamHandle stream, size_t size) {
  BlockPool& pool = pool_of(stream, size);
  if (Block* block = pool.take(size)) return block;
  bool grown = false;
  change_reserved(pool, [&] { grown = pool.grow(size); });
  return grown ? pool.take(size) : nullptr;
}

// Whether the callback was called.
bool CachingAllocator::relieve_pressure(std::unique_lock<std::mutex>& lock) {
  if (!on_pressure_ || t_relieving_pressure || capturing()) return false;
  struct Reset {
    ~Reset() { t_relieving_pressure = false; }
  } reset;
  t_relieving_pressure = true;
  const auto callback = on_pressure_;
  lock.unlock();
  callback();
  lock.lock();
  return true;
}

// Note [Memory pressure]
Block* CachingAllocator::find_memory(std::unique_lock<std::mutex>& lock, StreamHandle stream, size_t size) {
  const auto free_done = [this](Block* block) { finish(block); };
  // Polled only here: the fast path does not query the device.
  if (!capturing()) events_.poll(free_done);
  if (Block* block = take_or_grow(stream, size)) return block;
  ++stats_.num_alloc_retries;
  if (capturing()) return nullptr;
  if (relieve_pressure(lock)) {
    if (Block* block = take_or_grow(stream, size)) return block;
    if (capturing()) return nullptr;  // begun by another thread meanwhile
  }
  events_.poll(free_done);
  if (Block* block = take_or_grow(stream, size)) return block;
  events_.wait(free_done);
  if (Block* block = take_or_grow(stream, size)) return block;
  trim_pools();
  return take_or_grow(stream, size);
}

void CachingAllocator::deallocate(void* data) noexcept {
  if (data == nullptr) return;
  const std::lock_guard lock(mutex_);
  Block* block = live_.remove(data);
  if (block == nullptr) {
    faults_.push_back(str("deallocate: no block that is in use begins at ", reinterpret_cast<uintptr_t>(data)));
    return;
  }
  trace(TraceAction::kDeallocate, data, block->size, block->pool->key().stream, block->holder.op);
  for (PoolStats* stats : {&stats_.all, &stats_of(*block->pool)}) {
    stats->allocation.decrease(1);
    stats->allocated_bytes.decrease(block->size);
    stats->requested_bytes.decrease(block->requested);
  }
  if (block->guarded && !capturing())
    if (std::string damage = find_damage(device_, *block); !damage.empty()) faults_.push_back(std::move(damage));
  if (!capturing()) std::erase_if(block->uses, [&](const Block::Use& use) { return is_joined(*block, use); });
  if (block->uses.empty()) {
    finish(block);
    return;
  }
  block->state = BlockState::kAwaitingStream;
  if (capturing()) {
    deferred_.push_back(block);
  } else {
    await_streams(block);
  }
}

void CachingAllocator::await_streams(Block* block) {
  for (const Block::Use& use : block->uses) events_.record(block, use.stream);
  block->uses.clear();
  if (block->pending_events == 0) finish(block);
}

// The block's memory may be used again.
void CachingAllocator::finish(Block* block) noexcept {
  for (PoolStats* stats : {&stats_.all, &stats_of(*block->pool)}) {
    stats->active.decrease(1);
    stats->active_bytes.decrease(block->size);
  }
  // A capture would record the poison and repeat it at every replay.
  if (block->guarded && !capturing()) poison(device_, *block, block->pool->key().stream);
  block->pool->give_back(block);
}

void CachingAllocator::used_on(void* data, StreamHandle stream) {
  const std::lock_guard lock(mutex_);
  Block* block = live_.find(data);
  if (block == nullptr || block->pool->key().stream == stream) return;
  const auto marks = marks_.find(stream);
  const uint64_t number = marks == marks_.end() ? 0 : marks->second;
  for (Block::Use& use : block->uses)
    if (use.stream == stream) {
      use.number = number;
      return;
    }
  block->uses.push_back({stream, number});
}

uint64_t CachingAllocator::mark(StreamHandle side) {
  const std::lock_guard lock(mutex_);
  return marks_[side]++;
}

void CachingAllocator::joined(StreamHandle owner, StreamHandle side, uint64_t mark) {
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = joined_.try_emplace({owner, side}, mark);
  if (!is_new) entry->second = std::max(entry->second, mark);
}

bool CachingAllocator::is_joined(const Block& block, const Block::Use& use) const {
  const auto found = joined_.find({block.pool->key().stream, use.stream});
  return found != joined_.end() && found->second >= use.number;
}

void CachingAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  if (capturing()) return;
  events_.wait([this](Block* block) { finish(block); });
  trim_pools();
}

bool CachingAllocator::share(const void* data, size_t nbytes, SharedMemory& out) {
  const std::lock_guard lock(mutex_);
  return device_.share(data, nbytes, out);
}

bool CachingAllocator::capture_under_way() const {
  const std::lock_guard lock(mutex_);
  return capturing();
}

void CachingAllocator::trim_pools() {
  device_.synchronize();  // work that is not yet done may use blocks freed since it was issued
  const auto graphs = [this](PoolId id) { return id == kSharedPool ? 0 : graphs_.at(id); };
  for (const auto& pools : pools_) {
    if (graphs(pools->small.key().id) != 0) continue;
    for (BlockPool* pool : {&pools->small, &pools->large}) change_reserved(*pool, [&] { pool->trim(); });
  }
  std::erase_if(pools_, [&](const auto& pools) {
    const PoolId id = pools->small.key().id;
    return id != kSharedPool && graphs(id) == 0 && pools->small.mapped_bytes() + pools->large.mapped_bytes() == 0;
  });
}

template <class Change>
void CachingAllocator::change_reserved(BlockPool& pool, Change&& change) {
  const size_t bytes = pool.mapped_bytes(), segments = pool.mapped_ranges();
  change();
  const size_t new_bytes = pool.mapped_bytes(), new_segments = pool.mapped_ranges();
  const auto update = [](Counter& counter, size_t before, size_t now) {
    if (now > before) counter.increase(now - before);
    if (now < before) counter.decrease(before - now);
  };
  for (PoolStats* stats : {&stats_.all, &stats_of(pool)}) {
    update(stats->reserved_bytes, bytes, new_bytes);
    update(stats->segment, segments, new_segments);
  }
}

void CachingAllocator::set_memory_fraction(double fraction) {
  ARGAND_CHECK(ValueError, fraction >= 0 && fraction <= 1, "set_memory_fraction: expected a fraction from 0 to 1, got ",
               fraction);
  const std::lock_guard lock(mutex_);
  budget_.limit = static_cast<size_t>(fraction * static_cast<double>(total_bytes_));
  fraction_ = fraction;
}

double CachingAllocator::memory_fraction() const {
  const std::lock_guard lock(mutex_);
  return fraction_;
}

bool CachingAllocator::may_have(size_t nbytes) const {
  const std::lock_guard lock(mutex_);
  const size_t most = capacity(), held = static_cast<size_t>(stats_.all.active_bytes.current);
  return total_bytes_ == 0 || (held <= most && nbytes <= most - held && round_up(nbytes, kLargePage) <= most - held);
}

void CachingAllocator::set_on_pressure(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  on_pressure_ = std::move(callback);
}

void CachingAllocator::set_holder_source(HolderSource source) { holder_source_ = source; }

void CachingAllocator::begin_pool(PoolId id, StreamHandle stream) {
  ARGAND_CHECK(ValueError, id != kSharedPool, "begin_pool: ", id, " is the id of the shared pool");
  const std::lock_guard lock(mutex_);
  ARGAND_CHECK(ValueError, pool_id(stream) == kSharedPool, "begin_pool: the stream already allocates from pool ",
               pool_id(stream));
  if (!capturing()) events_.poll([this](Block* block) { finish(block); });  // what an earlier capture kept
  active_.push_back({id, stream});
  ++graphs_[id];
}

void CachingAllocator::end_pool(PoolId id, StreamHandle stream) {
  const std::lock_guard lock(mutex_);
  const auto it = std::find_if(active_.begin(), active_.end(),
                               [&](const ActivePool& active) { return active.id == id && active.stream == stream; });
  ARGAND_CHECK(ValueError, it != active_.end(), "end_pool: the stream does not allocate from pool ", id);
  active_.erase(it);
  if (capturing()) return;
  for (Block* block : std::exchange(deferred_, {})) await_streams(block);
}

void CachingAllocator::release_pool(PoolId id) {
  const std::lock_guard lock(mutex_);
  const auto it = graphs_.find(id);
  ARGAND_CHECK(ValueError, it != graphs_.end() && it->second > 0, "release_pool: no graph uses pool ", id);
  --it->second;
}

void CachingAllocator::throw_out_of_memory(const Request& request) {
  ++stats_.num_ooms;
  trace(TraceAction::kOutOfMemory, nullptr, request.nbytes, request.stream, request.holder.op);
  const OutOfMemory error{
      .device = device_name_,
      .requested = request.nbytes,
      .holder = request.holder,
      .capacity = total_bytes_,
      .free = device_.free_bytes(),
      .limit = budget_.limit,
      .allocated = static_cast<size_t>(stats_.all.active_bytes.current),
      .reserved = static_cast<size_t>(stats_.all.reserved_bytes.current),
  };
  throw OutOfMemoryError(out_of_memory_text(error, make_snapshot()));
}

MemoryStats CachingAllocator::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void CachingAllocator::reset_peak_stats() {
  const std::lock_guard lock(mutex_);
  for_each_counter(stats_, [](Counter& counter) { counter.reset_peak(); });
}

void CachingAllocator::reset_accumulated_stats() {
  const std::lock_guard lock(mutex_);
  for_each_counter(stats_, [](Counter& counter) { counter.reset_accumulated(); });
  stats_.num_alloc_retries = stats_.num_ooms = 0;
}

MemorySnapshot CachingAllocator::snapshot() const {
  const std::lock_guard lock(mutex_);
  return make_snapshot();
}

MemorySnapshot CachingAllocator::make_snapshot() const {
  MemorySnapshot out;
  out.history.assign(history_.begin(), history_.end());
  for (const auto& pools : pools_) {
    for (const BlockPool* pool : {&pools->small, &pools->large}) {
      for (const AddressRange& range : pool->ranges()) {
        if (range.mapped == 0) continue;
        const PoolKey& key = pool->key();
        SegmentInfo& segment = out.segments.emplace_back(SegmentInfo{
            reinterpret_cast<uintptr_t>(range.base), range.size, range.mapped, key.is_small, key.id, key.stream, {}});
        for (const Block* block = range.first; block != nullptr; block = block->next) {
          if (block->state == BlockState::kUnmapped) continue;
          BlockInfo& info = segment.blocks.emplace_back();
          info.address = reinterpret_cast<uintptr_t>(block->address);
          info.size = block->size;
          info.state = block->state;
          if (!block->in_use()) continue;
          info.requested_size = block->requested;
          info.sequence = block->sequence;
          info.op = op_text(block->holder);
          info.shape = shape_text(block->holder);
          info.time_us = block->holder.time_us;
        }
      }
    }
  }
  return out;
}

std::string CachingAllocator::memory_summary() const { return memory_summary_text(device_name_, stats(), snapshot()); }

std::string CachingAllocator::snapshot_json() const { return snapshot_json_text(snapshot()); }

void CachingAllocator::record_history(size_t max_entries) {
  const std::lock_guard lock(mutex_);
  max_history_ = max_entries;
  if (max_entries == 0) history_.clear();
}

void CachingAllocator::trace(TraceAction action, const void* address, size_t size, StreamHandle stream,
                             const char* op) {
  if (max_history_ == 0) return;
  while (history_.size() >= max_history_) history_.pop_front();
  history_.push_back({action, reinterpret_cast<uintptr_t>(address), size, stream, op, now_us()});
}

void CachingAllocator::fail_after(int64_t n) {
  const std::lock_guard lock(mutex_);
  fail_countdown_ = n;
}

void CachingAllocator::set_guard(bool on) {
  const std::lock_guard lock(mutex_);
  guard_ = on;
}

void CachingAllocator::check_guards() {
  const std::lock_guard lock(mutex_);
  if (!capturing()) {
    live_.for_each([this](Block& block) {
      if (!block.guarded) return;
      std::string damage = find_damage(device_, block);
      if (damage.empty()) return;
      faults_.push_back(std::move(damage));
      block.guarded = false;
    });
  }
  if (faults_.empty()) return;
  std::string message;
  for (const std::string& fault : std::exchange(faults_, {})) message += str(message.empty() ? "" : "\n", fault);
  throw Error(std::move(message));
}

}  // namespace argand::cuda
