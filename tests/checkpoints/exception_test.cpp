// The strong guarantee: memory runs out at every allocation of an operation in turn, that of C++ objects and that of
// tensors' elements, and the state is as it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>

#include "argand/core/cpu_generator.h"
#include "argand/exec/invoke.h"
#include "argand/io/checkpoint_folder.h"
#include "argand/io/folder_test.h"
#include "argand/nn/modules/batchnorm.h"
#include "argand/nn/modules/linear.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/adam.h"
#include "argand/optim/rmsprop.h"
#include "argand/optim/sgd.h"
#include "argand/runtime/cpu/aligned_allocator.h"
#include "argand/serialize/training_state.h"

namespace {

thread_local int64_t allocations_left = -1;  // of this thread until one fails; -1: none does
thread_local int retries = 0;                // of the tensors' allocator, that fail too
thread_local int64_t element_blocks = 0;     // that the tensors' allocator asked for

void* allocate(size_t size, size_t alignment) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  void* const p = alignment ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                            : std::malloc(size ? size : 1);
  if (!p) throw std::bad_alloc();
  return p;
}

}  // namespace

// Those of the whole program, the library's too.
void* operator new(size_t size) { return allocate(size, 0); }
void* operator new[](size_t size) { return allocate(size, 0); }
void* operator new(size_t size, std::align_val_t a) { return allocate(size, static_cast<size_t>(a)); }
void* operator new[](size_t size, std::align_val_t a) { return allocate(size, static_cast<size_t>(a)); }
// What the tensors' allocator asks for elements, and asks again when it has given back what it keeps.
extern "C" int posix_memalign(void** out, size_t alignment, size_t size) {
  ++element_blocks;
  if (retries > 0) return --retries, ENOMEM;
  if (allocations_left >= 0 && allocations_left-- == 0) return retries = 1, ENOMEM;
  *out = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  return *out ? 0 : ENOMEM;
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { std::free(p); }

namespace argand {
namespace {

struct Net : nn::Module {
  Net() {
    first = register_module("first", nn::Linear(4, 8));
    norm = register_module("norm", nn::BatchNorm1d(8));
    last = register_module("last", nn::Linear(8, 2));
  }
  Tensor forward(const Tensor& x) { return last(norm(first(x)).relu()); }
  nn::Linear first{nullptr}, last{nullptr};
  nn::BatchNorm1d norm{nullptr};
};

struct Training {
  explicit Training(uint64_t seed, int steps) {
    manual_seed(seed);
    net = std::make_shared<Net>();
    optimizer = std::make_unique<optim::Adam>(net->parameters(), optim::AdamOptions(0.1));
    for (int i = 0; i < steps; ++i) {
      gradients();
      optimizer->step();
    }
    parts.add("model", *net).add("optimizer", *optimizer);
  }
  void gradients() {
    optimizer->zero_grad();
    net->forward(randn({5, 4})).square().sum().backward();
  }
  std::string bytes() const {
    std::string out;
    io::write_torch(parts.state(0, 0), "state",
                    [&](const void* p, size_t n) { out.append(static_cast<const char*>(p), n); });
    return out;
  }
  std::shared_ptr<Net> net;
  std::unique_ptr<optim::Adam> optimizer;
  serialize::TrainingState parts;
};

// Lets allocation 0, 1, 2, ... of `f` fail until none does; returns how many failed.
template <class Operation, class Check>
int64_t at_every_allocation(Operation f, Check is_unchanged) {
  for (int64_t n = 0;; ++n) {
    bool failed = false;
    release_cached_memory();  // else most blocks of elements would be old ones
    allocations_left = n;
    retries = 0;
    try {
      f();
    } catch (const std::bad_alloc&) {
      failed = true;
    } catch (const Error&) {
      failed = true;
    }
    allocations_left = -1;
    if (!failed) return n;
    EXPECT_TRUE(is_unchanged()) << "allocation " << n;
    if (::testing::Test::HasFailure()) return n;
  }
}

TEST(Exceptions, LoadStateDictOfAModule) {
  const Training from(1, 2), to(2, 1);
  const StateDict state = from.net->state_dict();
  const std::string before = to.bytes();
  EXPECT_GT(at_every_allocation([&] { to.net->load_state_dict(state); }, [&] { return to.bytes() == before; }), 20);
  EXPECT_NE(to.bytes(), before);
  EXPECT_TRUE(equal(to.net->last->weight, from.net->last->weight));
}

TEST(Exceptions, LoadStateDictThatConverts) {
  const Training from(1, 2), to(2, 1);
  StateDict state;
  for (const auto& item : from.net->state_dict()) {
    const Tensor t = item.value().to(kDouble);
    state.insert(item.key(), t.dim() == 2 ? t.t().contiguous().t() : t);
  }
  const std::string before = to.bytes();
  at_every_allocation([&] { to.net->load_state_dict(state); }, [&] { return to.bytes() == before; });
  EXPECT_TRUE(equal(to.net->last->weight, from.net->last->weight));
}

TEST(Exceptions, LoadStateDictOfAnOptimizer) {
  const Training from(1, 2), to(2, 1);
  const StateDict state = from.optimizer->state_dict();
  const std::string before = to.bytes();
  EXPECT_GT(at_every_allocation([&] { to.optimizer->load_state_dict(state); }, [&] { return to.bytes() == before; }),
            20);
  EXPECT_NE(to.bytes(), before);
}

TEST(Exceptions, Restore) {
  const Training from(1, 2);
  Training to(2, 1);
  const io::Value state = from.parts.state(3, 4);
  const std::string before = to.bytes();
  EXPECT_GT(at_every_allocation([&] { to.parts.restore(state); }, [&] { return to.bytes() == before; }), 50);
  EXPECT_NE(to.bytes(), before);
}

// Nothing to leave unchanged but what is in use: no file stays open, and the next one loads.
TEST(Exceptions, Load) {
  const Training training(1, 1);
  const io::testing::TestFolder folder;
  io::save_torch(folder / "f.pt", training.parts.state(0, 1));
  const auto open_files = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  for (const bool mapped : {false, true}) {
    io::LoadOptions options;
    options.mmap = mapped;
    const auto before = open_files();
    const int64_t blocks = element_blocks;
    std::string loaded;
    EXPECT_GT(at_every_allocation([&] { io::load(folder / "f.pt", options); }, [&] { return open_files() == before; }),
              100);
    EXPECT_EQ(element_blocks > blocks, !mapped) << "mapped elements alone need no memory";
    io::write_torch(io::load(folder / "f.pt", options), "f",
                    [&](const void* p, size_t n) { loaded.append(static_cast<const char*>(p), n); });
    EXPECT_EQ(loaded, io::testing::content_of(folder / "f.pt"));
  }
}

TEST(Exceptions, Save) {
  const Training training(1, 1);
  const io::testing::TestFolder folder;
  const std::string path = folder / "run";
  io::CheckpointFolder run(path);
  run.save(1, training.parts.state(0, 1));
  const std::string before = io::testing::content_of(run.path_of(1));
  const io::Value state = training.parts.state(0, 2);
  const auto unchanged = [&] {
    const std::vector<int64_t> steps = run.steps();
    // After the rename nothing is lost by an error.
    const bool whole = run.load_latest().skipped.empty() && io::testing::content_of(run.path_of(1)) == before;
    return whole && steps.size() <= 2;
  };
  EXPECT_GT(at_every_allocation([&] { run.save(2, state); }, unchanged), 50);
  std::filesystem::remove(run.path_of(2));
  at_every_allocation([&] { run.save_async(2, state).wait(); }, unchanged);
  EXPECT_EQ(run.steps(), (std::vector<int64_t>{1, 2}));
}

// What it remembers of a parameter may be made by then, and is that of no step.
TEST(Exceptions, OptimizerStep) {
  for (const int warm : {0, 1}) {
    Training undisturbed(1, warm), training(1, warm);
    manual_seed(7);
    undisturbed.gradients();
    undisturbed.optimizer->step();
    manual_seed(7);
    training.gradients();
    const auto parameters = [&] {
      std::vector<Tensor> out;
      for (const Tensor& p : training.net->parameters()) out.push_back(p.detach().clone());
      return out;
    };
    const std::vector<Tensor> before = parameters();
    const auto unchanged = [&] {
      const std::vector<Tensor> now = parameters();
      return std::equal(now.begin(), now.end(), before.begin(),
                        [](const Tensor& a, const Tensor& b) { return equal(a, b); });
    };
    EXPECT_GT(at_every_allocation([&] { training.optimizer->step(); }, unchanged), 10);
    EXPECT_EQ(training.bytes(), undisturbed.bytes());
  }
}

// The parameters of one group change together, with what was remembered of them, or not at all.  Of several groups,
// those before the one that failed have made their step: to take it back, each step would have to copy all that it
// changes.
template <class O, class Options>
void expect_whole_steps(const char* name, const Options& options) {
  for (const int warm : {0, 2}) {
    manual_seed(1);
    const auto net = std::make_shared<Net>();
    O optimizer(net->parameters(), options);
    const auto gradients = [&] {
      optimizer.zero_grad();
      net->forward(randn({5, 4})).square().sum().backward();
    };
    for (int i = 0; i < warm; ++i) {
      gradients();
      optimizer.step();
    }
    gradients();
    const auto copies = [](const StateDict& state) {
      StateDict out;
      for (const auto& item : state) out.insert(item.key(), item.value().detach().clone());
      return out;
    };
    const StateDict parameters = copies(net->state_dict()), remembered = copies(optimizer.state_dict());
    const auto same = [](const StateDict& before, const StateDict& now) {
      return std::all_of(before.begin(), before.end(), [&](const auto& item) {
        const Tensor* const t = now.find(item.key());
        return t && equal(*t, item.value());
      });
    };
    const int64_t failures = at_every_allocation(
        [&] { optimizer.step(); },
        [&] { return same(parameters, net->state_dict()) && same(remembered, optimizer.state_dict()); });
    EXPECT_GT(failures, 5) << name;
    EXPECT_FALSE(same(parameters, net->state_dict())) << name;
  }
}

TEST(Exceptions, StepsOfOptimizersAreWhole) {
  expect_whole_steps<optim::SGD>("SGD", optim::SGDOptions(0.1));
  expect_whole_steps<optim::SGD>("SGD with momentum", optim::SGDOptions(0.1).momentum(0.9));
  expect_whole_steps<optim::Adam>("Adam", optim::AdamOptions(0.1).amsgrad(true));
  expect_whole_steps<optim::AdamW>("AdamW", optim::AdamWOptions(0.1));
  expect_whole_steps<optim::RMSprop>("RMSprop", optim::RMSpropOptions(0.1));
}

}  // namespace
}  // namespace argand
