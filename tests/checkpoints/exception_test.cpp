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
#include "argand/optim/adadelta.h"
#include "argand/optim/adagrad.h"
#include "argand/optim/adam.h"
#include "argand/optim/adamax.h"
#include "argand/optim/lbfgs.h"
#include "argand/optim/nadam.h"
#include "argand/optim/radam.h"
#include "argand/optim/rmsprop.h"
#include "argand/optim/sgd.h"
#include "argand/runtime/cpu/aligned_allocator.h"
#include "argand/runtime/cpu/thread_pool.h"
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

// Replace the operators of the whole program, the library included.
void* operator new(size_t size) { return allocate(size, 0); }
void* operator new[](size_t size) { return allocate(size, 0); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }  // who asks so goes on
void* operator new(size_t size, std::align_val_t a) { return allocate(size, static_cast<size_t>(a)); }
void* operator new[](size_t size, std::align_val_t a) { return allocate(size, static_cast<size_t>(a)); }
// The tensors' allocator calls this for elements, and once more after it has freed its cached blocks.
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

using namespace optim;

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
    optimizer = std::make_unique<Adam>(net->parameters(), AdamOptions(0.1));
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
  std::unique_ptr<Adam> optimizer;
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

// Parameters of all kinds in two groups, and an optimizer.  One of each group has no gradient in the first step, so
// that steps are counted apart and some have no state yet.
struct Stepping {
  Stepping() {
    // All threads: later, without memory for them, there would be fewer, which is no failure.
    parallel_for(0, get_num_threads(), 1, [](int64_t, int64_t) {});
    manual_seed(1);
    const auto leaf = [](const Tensor& t) { return t.detach().requires_grad_(); };
    parameters = {leaf(randn({3, 4})),
                  leaf(randn({5}, kDouble)),
                  leaf(randn({3, 4}).t()),
                  leaf(randn({40000})),  // of several threads, and its gradient waits in the issue window
                  leaf(randn({6, 3}).select(1, 1)),
                  leaf(randn({7}).to(kHalf)),
                  leaf(randn({2, 3}))};
  }
  std::vector<OptimizerParamGroup> groups(const OptimizerOptions& a, const OptimizerOptions& b) const {
    std::vector<OptimizerParamGroup> out;
    out.emplace_back(std::vector<Tensor>(parameters.begin(), parameters.begin() + 3), a.clone());
    out.emplace_back(std::vector<Tensor>(parameters.begin() + 3, parameters.end()), b.clone());
    return out;
  }
  void gradients(int step) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      Tensor& p = parameters[i];
      p.mutable_grad() = step == 0 && i % 3 == 1 ? Tensor() : randn(p.sizes()).to(p.dtype()) * 2;
    }
  }
  // Copies of the parameters and of the optimizer's state.
  StateDict copies() const {
    StateDict out;
    for (size_t i = 0; i < parameters.size(); ++i) out.insert(str("parameter.", i), parameters[i].detach().clone());
    for (const auto& item : optimizer->state_dict()) out.insert(item.key(), item.value().detach().clone());
    return out;
  }
  std::vector<Tensor> parameters;
  std::unique_ptr<Optimizer> optimizer;
};

bool same(const StateDict& a, const StateDict& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const auto& item) {
           const Tensor* const t = b.find(item.key());
           return t && equal(*t, item.value());
         });
}

// All parameters of all groups change, with what is remembered of them, or none.
template <class O, class Options>
void expect_whole_steps(const char* name, const Options& a, const Options& b) {
  for (const int warm : {0, 1, 3}) {
    SCOPED_TRACE(str(name, " after ", warm, " steps"));
    Stepping undisturbed, failing;
    for (Stepping* s : {&undisturbed, &failing}) {
      s->optimizer = std::make_unique<O>(s->groups(a, b), a);
      manual_seed(2);
      for (int i = 0; i <= warm; ++i) {
        s->gradients(i);
        if (i < warm) s->optimizer->step();
      }
    }
    undisturbed.optimizer->step();
    const StateDict before = failing.copies();
    EXPECT_GT(at_every_allocation([&] { failing.optimizer->step(); }, [&] { return same(before, failing.copies()); }),
              20);
    EXPECT_FALSE(same(before, failing.copies()));
    EXPECT_TRUE(same(undisturbed.copies(), failing.copies())) << "the failures have left something behind";
  }
}

TEST(Exceptions, StepsOfSgdAreWhole) {
  expect_whole_steps<SGD>("SGD", SGDOptions(0.1), SGDOptions(0.2).weight_decay(0.1));
  expect_whole_steps<SGD>("SGD with momentum", SGDOptions(0.1).momentum(0.9).nesterov(true), SGDOptions(0.2));
  expect_whole_steps<SGD>("SGD with momenta", SGDOptions(0.1).momentum(0.9), SGDOptions(0.2).momentum(0.5));
}
TEST(Exceptions, StepsOfAdamAreWhole) {
  expect_whole_steps<Adam>("Adam", AdamOptions(0.1).amsgrad(true), AdamOptions(0.2).weight_decay(0.1));
  expect_whole_steps<AdamW>("AdamW", AdamWOptions(0.1), AdamWOptions(0.2).maximize(true));
}
TEST(Exceptions, StepsOfRmspropAreWhole) {
  expect_whole_steps<RMSprop>("RMSprop", RMSpropOptions(0.1), RMSpropOptions(0.2).centered(true).momentum(0.9));
}
TEST(Exceptions, StepsOfAdagradAreWhole) {
  expect_whole_steps<Adagrad>("Adagrad", AdagradOptions(0.1), AdagradOptions(0.2).lr_decay(0.1));
}
TEST(Exceptions, StepsOfAdadeltaAreWhole) {
  expect_whole_steps<Adadelta>("Adadelta", AdadeltaOptions(0.1), AdadeltaOptions(0.2).rho(0.8));
}
TEST(Exceptions, StepsOfAdamaxAreWhole) {
  expect_whole_steps<Adamax>("Adamax", AdamaxOptions(0.1), AdamaxOptions(0.2).weight_decay(0.1));
}
TEST(Exceptions, StepsOfNAdamAreWhole) {
  expect_whole_steps<NAdam>("NAdam", NAdamOptions(0.1), NAdamOptions(0.2).momentum_decay(0.01));
}
TEST(Exceptions, StepsOfRAdamAreWhole) {
  expect_whole_steps<RAdam>("RAdam", RAdamOptions(0.1), RAdamOptions(0.2).betas({0.8, 0.9}));
}

// An optimizer that evaluates its closure several times while it moves the parameters.
struct Searching : Stepping {
  explicit Searching(bool searches_lines) {
    parameters = {(randn({3, 2}) * 0.1).requires_grad_(),
                  randn({2, 17000}).mul(0.1).t().requires_grad_()};  // moves of the second wait in the issue window
    auto options = LBFGSOptions(0.5).max_iter(3).history_size(2);
    if (searches_lines) options.line_search_fn("strong_wolfe");
    optimizer = std::make_unique<LBFGS>(parameters, options);
  }
  void step() {
    optimizer->step([this] {
      if (evaluations_left >= 0 && evaluations_left-- == 0) throw ValueError("the closure has no loss");
      optimizer->zero_grad();
      Tensor loss;
      for (const Tensor& p : parameters) {
        const Tensor part = (p.square() - 1).square().sum() + (p[0] * p[1]).sum();
        loss = loss.defined() ? loss + part : part;
      }
      loss.backward();
      return loss;
    });
  }
  int evaluations_left = -1;  // until one throws; -1: none does
};

TEST(Exceptions, StepsOfLbfgsAreWhole) {
  for (const bool searches_lines : {false, true})
    for (const int warm : {0, 2}) {
      SCOPED_TRACE(str(searches_lines ? "line search, " : "", warm, " steps before"));
      Searching s(searches_lines);
      for (int i = 0; i < warm; ++i) s.step();
      const StateDict before = s.copies();
      int throws = 0;
      for (bool thrown = true; thrown; throws += thrown) {
        s.evaluations_left = throws;
        thrown = false;
        try {
          s.step();
        } catch (const ValueError&) {
          thrown = true;
          EXPECT_TRUE(same(before, s.copies())) << "evaluation " << throws;
        }
      }
      EXPECT_GE(throws, 3);
      EXPECT_FALSE(same(before, s.copies()));
      s.evaluations_left = -1;
      const StateDict again = s.copies();
      EXPECT_GT(at_every_allocation([&] { s.step(); }, [&] { return same(again, s.copies()); }), 100);
      EXPECT_FALSE(same(again, s.copies()));
    }
}

}  // namespace
}  // namespace argand
