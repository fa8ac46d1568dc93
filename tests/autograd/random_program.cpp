#include "tests/autograd/random_program.h"

namespace argand::autograd {

Tensor Runner::numbers(const Dims& sizes, size_t seed) {
  Tensor t = zeros(sizes, kDouble);
  for (int64_t i = 0; i < t.numel(); ++i)
    static_cast<double*>(t.impl().data())[i] =
        0.3 + 0.11 * static_cast<double>((seed * 7 + static_cast<size_t>(i) * 5) % 11);
  return t;
}

// Smooth and bounded, so that gradients of gradients stay comparable.
Tensor compute_op(int op, const Tensor& a, const Tensor& b) {
  switch (op) {
    case 0:
      return a * b;
    case 1:
      return a + b * 0.5;
    case 2:
      return (a - b).tanh();
    case 3:
      return a.sin();
    case 4:
      return a.sigmoid() * b.cos();
    default:
      return a.sum() * 0.1 + b;
  }
}

Tensor written_value(int op, const Tensor& old, const Tensor& b) {
  switch (op) {
    case 0:
      return old * b;
    case 1:
      return old + b * 2;
    case 2:
      return old.sin();
    case 3:
      return old.sigmoid();
    case 4:
      return b.expand(old.sizes());
    default:
      return old * 0 + 0.75;
  }
}

static void write_op(int op, const Tensor& to, const Tensor& b) {
  switch (op) {
    case 0:
      to.mul_(b);
      return;
    case 1:
      to.add_(b, 2);
      return;
    case 2:
      to.sin_();
      return;
    case 3:
      to.sigmoid_();
      return;
    case 4:
      to.copy_(b);
      return;
    default:
      to.fill_(0.75);
  }
}

// ---- with views and in-place ops

void Direct::add(Tensor t, const std::string& how) {
  text_ += str("  t", tensors_.size(), " = ", how, "  # ", t.sizes(), "\n");
  tensors_.push_back(std::move(t));
}
void Direct::make(const Dims& sizes, bool requires_grad) {
  const Tensor t = numbers(sizes, tensors_.size());
  if (requires_grad) leaves_.push_back(t.requires_grad_());
  add(t, requires_grad ? "leaf" : "constant");
}
void Direct::slice(int from, int64_t dim, int64_t start, int64_t step) {
  add(at(from).slice(dim, start, std::nullopt, step),
      str("t", from, ".slice(", dim, ", ", start, ", step ", step, ")"));
}
void Direct::select(int from, int64_t dim, int64_t index) {
  add(at(from).select(dim, index), str("t", from, ".select(", dim, ", ", index, ")"));
}
void Direct::transpose(int from) { add(at(from).transpose(0, 1), str("t", from, ".transpose(0, 1)")); }
void Direct::expand(int from, int64_t rows) {
  Dims to = at(from).impl().sizes;
  to.insert(to.begin(), rows);
  add(at(from).expand(to), str("t", from, ".expand to ", rows, " rows"));
}
void Direct::compute(int op, int a, int b) {
  add(compute_op(op, at(a), at(b)), str("compute ", op, " of t", a, ", t", b));
}
void Direct::write(int op, int to, int from, bool tracked) {
  text_ += str("  write ", op, " to t", to, " of t", from, tracked ? "\n" : " under no_grad\n");
  const AutoGradMode mode(tracked);
  write_op(op, at(to), at(from));
}
Tensor Direct::loss() {
  Tensor sum = zeros({}, kDouble);
  for (size_t i = 0; i < tensors_.size(); ++i)
    sum = sum + (tensors_[i] * (0.1 + 0.05 * static_cast<double>(i % 5))).sin().sum();
  return sum;
}

// ---- without

Tensor Functional::read(int i) const {
  const Tensor& p = places_[static_cast<size_t>(i)];
  return memory_[memory_of_[static_cast<size_t>(i)]].index_select(0, p.reshape({-1})).reshape(p.sizes());
}
void Functional::add(size_t memory, const Tensor& places) {
  memory_of_.push_back(memory);
  places_.push_back(places.clone());
}
void Functional::add_memory(const Tensor& value) {
  memory_.push_back(value.reshape({-1}));
  add(memory_.size() - 1, arange(value.numel(), kLong).reshape(value.sizes()));
}
void Functional::make(const Dims& sizes, bool requires_grad) {
  const Tensor t = numbers(sizes, places_.size());
  if (requires_grad) leaves_.push_back(t.requires_grad_());
  add_memory(t);
}
void Functional::slice(int from, int64_t dim, int64_t start, int64_t step) {
  const auto i = static_cast<size_t>(from);
  add(memory_of_[i], places_[i].slice(dim, start, std::nullopt, step));
}
void Functional::select(int from, int64_t dim, int64_t index) {
  const auto i = static_cast<size_t>(from);
  add(memory_of_[i], places_[i].select(dim, index));
}
void Functional::transpose(int from) {
  const auto i = static_cast<size_t>(from);
  add(memory_of_[i], places_[i].transpose(0, 1));
}
void Functional::expand(int from, int64_t rows) {
  const auto i = static_cast<size_t>(from);
  Dims to = sizes(from);
  to.insert(to.begin(), rows);
  add(memory_of_[i], places_[i].expand(to));
}
void Functional::compute(int op, int a, int b) { add_memory(compute_op(op, read(a), read(b))); }
void Functional::write(int op, int to, int from, bool tracked) {
  const auto i = static_cast<size_t>(to);
  Tensor& memory = memory_[memory_of_[i]];
  const Tensor value = written_value(op, read(to), read(from)).reshape({-1});
  const Tensor next = memory.scatter(0, places_[i].reshape({-1}), value);
  memory = tracked ? next : memory + (next - memory).detach();  // the value of `next`, the gradient of before
}
Tensor Functional::loss() {
  Tensor sum = zeros({}, kDouble);
  for (size_t i = 0; i < places_.size(); ++i)
    sum = sum + (read(static_cast<int>(i)) * (0.1 + 0.05 * static_cast<double>(i % 5))).sin().sum();
  return sum;
}

// ---- the program of a seed

namespace {

struct Made {
  int group;            // tensors of one group share memory
  bool leaf, expanded;  // of the group; of this view
};

class Writer {
 public:
  Writer(uint64_t seed, Runner& runner) : rng_(seed), run_(runner) {}

  void program() {
    for (int i = 0; i < 3; ++i) make(i < 2);
    const int64_t n = 6 + below(12);
    for (int64_t i = 0; i < n; ++i) step();
  }

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(rng_() % static_cast<uint64_t>(n)); }
  int any() { return static_cast<int>(below(static_cast<int64_t>(made_.size()))); }
  Made& at(int i) { return made_[static_cast<size_t>(i)]; }

  void make(bool leaf) {
    Dims sizes = {2 + below(2)};
    if (below(3)) sizes.push_back(2 + below(2));
    run_.make(sizes, leaf);
    made_.push_back({groups_++, leaf, false});
  }
  // Something that broadcasts to `to`.
  int fitting(int to) {
    const Dims want = run_.sizes(to);
    for (int tries = 0; tries < 10; ++tries) {
      const int i = any();
      const Dims have = run_.sizes(i);
      bool fits = have.size() <= want.size();
      for (size_t d = 0; fits && d < have.size(); ++d)
        fits = have[have.size() - 1 - d] == want[want.size() - 1 - d] || have[have.size() - 1 - d] == 1;
      if (fits) return i;
    }
    return to;
  }
  void view() {
    const int from = any();
    const Dims sizes = run_.sizes(from);
    const auto ndim = static_cast<int64_t>(sizes.size());
    Made made = at(from);
    const int64_t dim = ndim ? below(ndim) : 0;
    const int64_t how = ndim == 0 ? 3 : below(4);
    if (how == 0 && sizes[static_cast<size_t>(dim)] > 1) {
      run_.slice(from, dim, below(2), 1 + below(2));
    } else if (how == 1) {
      run_.select(from, dim, below(sizes[static_cast<size_t>(dim)]));
    } else if (how == 2 && ndim == 2) {
      run_.transpose(from);
    } else if (ndim < 2) {
      run_.expand(from, 2);
      made.expanded = true;
    } else {
      return;
    }
    made_.push_back(made);
  }
  void write() {
    const int to = any();
    const bool tracked = below(6) != 0;
    if (at(to).expanded || (tracked && at(to).leaf)) return;
    run_.write(static_cast<int>(below(kWriteOps)), to, fitting(to), tracked);
  }
  void step() {
    const int64_t what = below(10);
    if (what == 0) {
      make(false);
    } else if (what < 4) {
      view();
    } else if (what < 7) {
      const int a = any();
      run_.compute(static_cast<int>(below(kComputeOps)), a, fitting(a));
      made_.push_back({groups_++, false, false});
    } else {
      write();
    }
  }

  std::mt19937_64 rng_;
  Runner& run_;
  std::vector<Made> made_;
  int groups_ = 0;
};

}  // namespace

void run_program(uint64_t seed, Runner& runner) { Writer(seed, runner).program(); }

}  // namespace argand::autograd
