#include "tests/window/machine.h"

#include <cstring>

#include "argand/exec/invoke.h"
#include "argand/ops/create/blob.h"
#include "argand/ops/functions.h"
#include "tests/window/model.h"

namespace argand::fuzz {

// ---- threads

Threads::Threads() {
  for (int i = 1; i < kThreads; ++i) threads_.emplace_back([this, i] { loop(i); });
}

Threads::~Threads() {
  {
    const std::lock_guard lock(mutex_);
    turn_ = -1;
  }
  changed_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void Threads::run(int thread, const std::function<void()>& work) {
  if (thread == 0) return work();
  std::unique_lock lock(mutex_);
  work_ = &work;
  turn_ = thread;
  changed_.notify_all();
  changed_.wait(lock, [&] { return turn_ == 0; });
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void Threads::loop(int thread) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return turn_ == thread || turn_ == -1; });
    if (turn_ == -1) return;
    try {
      (*work_)();
    } catch (...) {
      thrown_ = std::current_exception();
    }
    turn_ = 0;
    changed_.notify_all();
  }
}

// ---- the machine

Machine::Machine(Threads& threads, exec::WindowMode mode, bool threaded) : threads_(threads), threaded_(threaded) {
  on_all_threads([mode] { exec::set_window_mode(mode); });
}

Machine::~Machine() {
  slots_.clear();
  on_all_threads([] { exec::set_window_mode(exec::WindowMode::kAuto); });
}

void Machine::on_all_threads(const std::function<void()>& work) {
  for (int i = 0; i < (threaded_ ? kThreads : 1); ++i) threads_.run(i, work);
}

void Machine::run(const Call& call) {
  if (call.thread == 0) return run_here(call);
  threads_.run(call.thread, [&] { run_here(call); });
}

void Machine::remember(int64_t i, Memory m) {
  memory_.resize(std::max(memory_.size(), static_cast<size_t>(i) + 1));
  memory_[static_cast<size_t>(i)] = std::move(m);
}

static std::vector<char> bytes_of(const void* from, size_t n) {
  const char* p = static_cast<const char*>(from);
  return {p, p + n};
}

void Machine::run_here(const Call& c) {
  Tensor in[3];
  for (int i = 0; i < 3; ++i)
    if (c.in[i] >= 0) in[i] = slot(c.in[i]);
  switch (c.kind) {
    case Call::kNew:
      slot(c.out) = pattern_tensor(c.sizes, c.dtype, c.x);
      break;
    case Call::kBlob: {
      const Tensor from = pattern_tensor(c.sizes, c.dtype, c.x);
      auto owned = std::make_shared<std::vector<std::max_align_t>>(from.nbytes() / sizeof(std::max_align_t) + 1);
      std::memcpy(owned->data(), from.impl().data(), from.nbytes());
      slot(c.out) = from_blob(owned->data(), c.sizes, c.dtype);
      remember(c.a, {reinterpret_cast<char*>(owned->data()), from.nbytes(), c.dtype, owned, Tensor()});
      break;
    }
    case Call::kSlice:
      slot(c.out) = in[0].slice(c.a, c.b, c.c, c.d);
      break;
    case Call::kSelect:
      slot(c.out) = in[0].select(c.a, c.b);
      break;
    case Call::kTranspose:
      slot(c.out) = in[0].transpose(c.a, c.b);
      break;
    case Call::kExpand:
      slot(c.out) = in[0].expand(c.sizes);
      break;
    case Call::kStrided:
      slot(c.out) = in[0].as_strided(c.sizes, c.strides, c.a);
      break;
    case Call::kCompute:
      slot(c.out) = ops()[static_cast<size_t>(c.op)].call(in, c.x);
      break;
    case Call::kInplace:
      ops()[static_cast<size_t>(c.op)].inplace(in[0], in, c.x);
      break;
    case Call::kOut:
      add_out(in[0], in[1], in[2]);
      break;
    case Call::kCopy:
      in[0].copy_(in[1]);
      break;
    case Call::kFill:
      in[0].fill_(c.x);
      break;
    case Call::kSum:
      slot(c.out) = in[0].sum(kLong);
      break;
    case Call::kDrop:
      slot(c.in[0]) = Tensor();
      break;
    case Call::kExpose: {
      char* first = static_cast<char*>(in[0].data_ptr()) - in[0].storage_offset() * in[0].itemsize();
      remember(c.a, {first, in[0].storage()->nbytes(), in[0].dtype(), nullptr, in[0]});
      break;
    }
    case Call::kPoke:
      dispatch<kAllTypes>(c.dtype, "fuzz", [&](auto tag) {
        using T = typename decltype(tag)::type;
        reinterpret_cast<T*>(memory_[static_cast<size_t>(c.a)].address)[c.b] = Scalar(c.x).to<T>();
      });
      break;
    case Call::kPeek: {
      const Memory& m = memory_[static_cast<size_t>(c.a)];
      seen_.add(to_string(c), bytes_of(m.address, m.nbytes));
      break;
    }
    case Call::kRead:
      seen_.add(to_string(c), bytes_of(in[0].storage()->data(), in[0].storage()->nbytes()));
      break;
    case Call::kFlush:
      exec::flush();
      break;
  }
}

void Machine::finish() {
  for (size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].defined())
      seen_.add("t" + std::to_string(i) + " at the end",
                bytes_of(slots_[i].storage()->data(), slots_[i].storage()->nbytes()));
  for (size_t i = 0; i < memory_.size(); ++i)
    if (memory_[i].address)
      seen_.add("memory " + std::to_string(i) + " at the end", bytes_of(memory_[i].address, memory_[i].nbytes));
}

}  // namespace argand::fuzz
