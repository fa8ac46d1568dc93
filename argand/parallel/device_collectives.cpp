#include "argand/parallel/device_collectives.h"

#include <algorithm>
#include <thread>

#include "argand/core/grad_mode.h"
#include "argand/exec/window.h"
#include "argand/parallel/call_timeout.h"
#include "argand/parallel/interrupt.h"
#include "argand/parallel/store/store_rendezvous.h"

namespace argand::parallel {

bool DeviceWork::is_completed() { return Work::is_completed() || done_.query(); }

void DeviceWork::wait() {
  if (const std::exception_ptr error = exception()) std::rethrow_exception(error);
  join();
}

void DeviceWork::join() {
  const Stream current = current_stream(device_);
  done_.wait(current);
  if (side_) side_->joined(current, mark_);
}

bool DeviceWork::wait_for(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!is_completed()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    check_interrupt();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  wait();
  return true;
}

void DeviceWork::when_done(std::function<void()> f) {
  if (!exception()) join();
  f();
}

DeviceCollectives::DeviceCollectives(World& world, std::shared_ptr<Store> store, int rank, int size,
                                     const GroupOptions& options)
    : world_(world),
      store_(std::move(store)),
      rank_(rank),
      size_(size),
      options_(options),
      engine_(find_communicator(options.device_backend)) {
  world_.add(*this);
}

DeviceCollectives::~DeviceCollectives() { world_.remove(*this); }

bool DeviceCollectives::takes(const Tensors& read, const Tensors& written, std::optional<ReduceOp> op) const {
  const Device device = (written.empty() ? read : written)[0].device();
  const auto fits = [&](const Tensor& t) {
    return t.is_accelerator() && t.device() == device && (!op || engine_.takes(t.dtype(), op->kind));
  };
  return std::all_of(read.begin(), read.end(), fits) && std::all_of(written.begin(), written.end(), fits);
}

// Created by all ranks at once, at the first collective of a group on a device.
DeviceCollectives::Seat& DeviceCollectives::seat_on(const Device& device) {
  size_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = seats_.find(device.index());
    if (found != seats_.end()) return found->second;
    number = seats_.size();
  }
  // Ranks match by the count of communicators they have made: device indices differ between ranks.
  StoreRendezvous ids(str("communicator ", number), store_);
  CommunicatorOptions options;
  options.rank = rank_;
  options.size = size_;
  options.device = device.index();
  options.look = [this] {
    world_.throw_if_failed();
    check_interrupt();
  };
  Seat seat;
  seat.communicator = engine_.make(ids, options);
  seat.side = &SideStream::next(device.index());
  const std::lock_guard lock(mutex_);
  if (failure_) seat.communicator->abort(failure_);
  return seats_.emplace(device.index(), std::move(seat)).first->second;
}

namespace {
// In the current stream.
std::vector<Tensor> flat(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> all;
  for (const Tensor& t : tensors) {
    all.push_back(t.detach().contiguous().view({-1}));
    all.back().impl().data();
  }
  return all;
}
}  // namespace

WorkPtr DeviceCollectives::start(const std::string& call, const Tensors& read, const Tensors& written,
                                 const Tensors& result,
                                 const std::function<Calls(const Tensors& in, const Tensors& out)>& make) {
  const NoGradGuard no_grad;
  const Device device = (written.empty() ? read : written)[0].device();
  const DeviceScope on(device);
  auto waiting = std::make_unique<World::Waiting>(world_, call, CallTimeout::or_else(options_.timeout));
  Seat& seat = seat_on(device);
  for (const Tensors* list : {&read, &written})
    for (const Tensor& t : *list) t.impl().data();  // what computes it goes to the caller's stream
  seat.side->stream().wait_stream(current_stream(device));
  const auto work = std::make_shared<DeviceWork>(call, result, device);
  {
    const SideStream::Turn turn(*seat.side);
    const Tensors in = flat(read), out = flat(written);
    seat.communicator->put(make(in, out));
    for (size_t i = 0; i < out.size(); ++i)
      if (!out[i].is_alias_of(written[i])) written[i].detach().copy_(out[i].view(written[i].sizes()));
    work->mark_ = seat.side->mark();
    work->side_ = seat.side;
    work->done_.record(seat.side->stream());
  }
  if (is_capturing()) return work;  // replays finish without anybody looking
  const std::lock_guard lock(mutex_);
  forget_finished();
  pending_.push_back({work, std::move(waiting)});
  return work;
}

void DeviceCollectives::finish() {
  for (;;) {
    if (const std::exception_ptr error = look()) world_.fail(error);
    {
      const std::lock_guard lock(mutex_);
      if (failure_ || pending_.empty()) return;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

std::exception_ptr DeviceCollectives::look() {
  try {
    const std::lock_guard lock(mutex_);
    if (failure_) return nullptr;
    forget_finished();
    for (const auto& [index, seat] : seats_)
      if (const std::exception_ptr error = seat.communicator->error()) return error;
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

void DeviceCollectives::forget_finished() {
  while (!pending_.empty() && pending_.front().work->done_.query()) pending_.pop_front();
}

void DeviceCollectives::failed(const std::exception_ptr& why) noexcept {
  std::list<Pending> lost;
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = why;
    for (const auto& [index, seat] : seats_) seat.communicator->abort(why);
    lost.swap(pending_);
  }
  for (const Pending& p : lost) {
    const std::exception_ptr error = World::with_call(why, p.work->call());
    for (const Tensor& t : p.work->result()) t.storage()->lose(error);
    p.work->finish(error);
  }
}

}  // namespace argand::parallel
