#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>
#include <type_traits>

#include "argand/core/float32_precision.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/kernels/cuda/recurrence_tile.cuh"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/recurrence.cuh";
constexpr int64_t kThreads = 1024, kWarp = 32, kMostParts = 8, kLeastTerms = 8, kMostRows = 8;

// Threads for a product of `columns` columns, each of whose sums has `terms` terms.
struct Shares {
  int64_t lanes, parts;
  Shares(int64_t columns, int64_t terms)
      : lanes(std::clamp((columns + kWarp - 1) / kWarp * kWarp, kWarp, kThreads)),
        parts(std::clamp<int64_t>(std::min(kThreads / lanes, terms / kLeastTerms), 1, kMostParts)) {}
};

// As many sequences per block that all blocks run at once, if memory allows.
int64_t rows_of_block(int64_t batch, int64_t bytes_of_row) {
  int64_t rows = 1;
  while (rows < kMostRows && rows * multi_processor_count() < batch &&
         2 * rows * bytes_of_row <= shared_memory_per_block())
    rows *= 2;
  return rows;
}

// Whether a block processes all steps of its sequences: the weights, which it reads in each step, are few, and the
// states fit into shared memory.
bool by_blocks(const Recurrence& c, int64_t bytes_of_row) {
  constexpr int64_t kMostWeights = int64_t{1} << 20;  // bytes
  return gates_of(c.kind) * c.hidden * c.hidden * element_size(c.type) <= kMostWeights &&
         bytes_of_row <= shared_memory_per_block();
}
int64_t bytes_of_row(const Recurrence& c, int64_t numbers_of_unit) {
  return c.hidden * numbers_of_unit * element_size(op_math_type(c.type));
}

template <class... Args>
void launch_blocks(const char* name, const Recurrence& c, const Shares& shares, int64_t numbers_of_unit, Args... args) {
  const int64_t each = bytes_of_row(c, numbers_of_unit), rows = rows_of_block(c.batch, each);
  const Kernel run = kernel_instance(kHeader, name, c.type, static_cast<int>(c.kind), static_cast<int>(rows));
  const auto bytes = static_cast<size_t>(rows * each);
  run.allow_shared_memory(bytes);
  launch(run,
         {.blocks = blocks_for(c.batch, rows),
          .threads = static_cast<unsigned>(shares.lanes * shares.parts),
          .shared_memory = bytes},
         args..., static_cast<int>(c.steps), static_cast<int>(c.batch), static_cast<int>(c.hidden),
         static_cast<int>(shares.parts), c.reverse);
}

// ---- one step after the other

class Steps {
 public:
  explicit Steps(const Recurrence& c) : c_(c), units_(c.batch * c.hidden), columns_(gates_of(c.kind) * c.hidden) {
    ARGAND_CHECK(ValueError, units_ * gates_of(c.kind) <= std::numeric_limits<int>::max(),
                 "_recurrence: expected fewer than 2^31 gates in a step, got ", c.batch, " x ", columns_);
  }
  // The time step that is computed as the i-th.
  int64_t at(int64_t i) const { return c_.reverse ? c_.steps - 1 - i : i; }
  int64_t units() const { return units_; }
  // Step t of an array with so many numbers for each unit.
  template <class Pointer>
  Pointer* of(Pointer* data, int64_t t, int64_t numbers, ScalarType type) const {
    using Byte = std::conditional_t<std::is_const_v<Pointer>, const char, char>;
    return data ? static_cast<Byte*>(data) + t * units_ * numbers * element_size(type) : nullptr;
  }

  // sums [batch, columns of `right`] = left right
  void multiply(const void* left, const void* right, void* sums, bool to_gates) const {
    const int64_t inner = to_gates ? c_.hidden : columns_, columns = to_gates ? columns_ : c_.hidden;
    blocks::matrix_product.on(Device(kCUDA))(
        {c_.type, c_.batch, columns, inner, {left, inner, 1}, {right, columns, 1}, sums, columns});
  }
  template <class... Args>
  void run(const char* name, Args... args) const {
    launch(kernel_instance(kHeader, name, c_.type, static_cast<int>(c_.kind)), grid(), args...,
           static_cast<int>(units_), static_cast<int>(c_.hidden));
  }
  Grid grid() const {
    constexpr unsigned kStepThreads = 256;
    return {blocks_for(units_, kStepThreads), kStepThreads};
  }

 private:
  const Recurrence& c_;
  int64_t units_, columns_;
};

// A step as one kernel, where its blocks are about as many as multiprocessors.  Not for relu: its states may be
// infinite, which two numbers of TF32 are not.
class WholeStep {
 public:
  struct Tile {
    const char* kernel;
    int rows, units, tiles;
  };
  // `addresses`: what is read 16 bytes at a time.
  WholeStep(const Recurrence& c, const Tile& tile, std::initializer_list<const void*> addresses)
      : tile_(tile), batch_(static_cast<int>(c.batch)), hidden_(static_cast<int>(c.hidden)) {
    if (c.type != kFloat || c.kind == RnnKind::kRelu || allow_tf32_matmul() || !has_tensor_cores() ||
        c.hidden % std::max(16, tile.units) != 0)
      return;
    for (const void* p : addresses)
      if (reinterpret_cast<uintptr_t>(p) % 16 != 0) return;
    blocks_ = blocks_for(c.batch, tile.rows) * static_cast<unsigned>(hidden_ / tile.units);
    if (blocks_ > 2 * static_cast<unsigned>(multi_processor_count())) return;
    kernel_ = kernel_instance("argand/kernels/cuda/recurrence_whole_step.cuh", tile.kernel, static_cast<int>(c.kind));
    kernel_->allow_shared_memory(bytes());
  }
  explicit operator bool() const { return kernel_.has_value(); }
  template <class... Args>
  void run(Args... args) const {
    launch(*kernel_, {.blocks = blocks_, .threads = kStepWarps * kWarp, .shared_memory = bytes()}, args..., batch_,
           hidden_);
  }

 private:
  size_t bytes() const { return static_cast<size_t>(bytes_of_step(tile_.rows, tile_.tiles)); }

  Tile tile_;
  int batch_, hidden_;
  unsigned blocks_ = 0;
  std::optional<Kernel> kernel_;
};

WholeStep::Tile forward_tile(RnnKind kind) {
  const int gates = static_cast<int>(gates_of(kind));
  return {"recurrence_whole_step", kStepRows, units_of_step(gates), tiles_of_step(gates)};
}
constexpr WholeStep::Tile kBackwardTile{"recurrence_whole_step_backward", kGradientRows, kGradientUnits,
                                        kGradientUnits / 8};

void run_steps(const Recurrence& c, const RecurrenceForward& f) {
  const Steps steps(c);
  const WholeStep whole(c, forward_tile(c.kind), {c.h, f.transposed, f.output});
  const int64_t gates = gates_of(c.kind), saved = saved_of(c.kind);
  const ScalarType math = op_math_type(c.type);
  const Scratch sums(whole ? 0 : steps.units() * gates * element_size(c.type));
  for (int64_t i = 0; i < c.steps; ++i) {
    const int64_t t = steps.at(i), before = i > 0 ? steps.at(i - 1) : 0;
    const void* h = i > 0 ? steps.of(f.output, before, 1, c.type) : c.h;
    const void* earlier = i > 0 && saved > 0 ? steps.of(f.saved, before, saved, math) : nullptr;
    const void* x = steps.of(f.gates, t, gates, c.type);
    void *output = steps.of(f.output, t, 1, c.type), *last_c = i + 1 == c.steps ? f.last_c : nullptr,
         *keep = steps.of(f.saved, t, saved, math);
    if (whole) {
      whole.run(x, f.transposed, f.bias, h, c.c, earlier, output, last_c, keep);
    } else {
      steps.multiply(h, f.transposed, sums.data(), true);
      steps.run("recurrence_step", x, sums.data(), f.bias, h, c.c, earlier, output, last_c, keep);
    }
  }
}

// As the kernels' StepGradient.
struct StepPointers {
  const void *grad_output, *grad_last_c, *saved, *earlier_saved, *output, *h, *c0;
  void *grad_gates, *state_gates, *direct, *grad_c;
};

void run_steps_backward(const Recurrence& c, const RecurrenceBackward& b) {
  const Steps steps(c);
  const bool split = c.kind == RnnKind::kGru;
  const WholeStep whole(c, kBackwardTile, {split ? b.grad_state_gates : b.grad_gates, b.weight});
  const int64_t gates = gates_of(c.kind), saved = saved_of(c.kind);
  const ScalarType math = op_math_type(c.type);
  const Scratch sums(steps.units() * element_size(c.type)), direct(steps.units() * element_size(math)),
      of_c(steps.units() * element_size(math));
  const void* later = nullptr;  // what the later step left for its product
  for (int64_t i = c.steps; i-- > 0;) {
    const int64_t t = steps.at(i), before = i > 0 ? steps.at(i - 1) : 0;
    void *x = steps.of(b.grad_gates, t, gates, c.type), *y = steps.of(b.grad_state_gates, t, gates, c.type);
    const StepPointers step{steps.of(b.grad_output, t, 1, c.type),
                            b.grad_last_c,
                            steps.of(b.saved, t, saved, math),
                            i > 0 && saved > 0 ? steps.of(b.saved, before, saved, math) : nullptr,
                            steps.of(b.output, t, 1, c.type),
                            i > 0 ? steps.of(b.output, before, 1, c.type) : c.h,
                            c.c,
                            x,
                            split ? y : nullptr,
                            direct.data(),
                            of_c.data()};
    if (whole && later) {
      whole.run(step, later, b.weight);
    } else {
      if (later) steps.multiply(later, b.weight, sums.data(), false);
      steps.run("recurrence_step_backward", step, later ? sums.data() : nullptr);
    }
    later = split ? y : x;
  }
  steps.multiply(later, b.weight, sums.data(), false);
  launch(kernel_instance(kHeader, "recurrence_start_gradients", c.type), steps.grid(), sums.data(), direct.data(),
         of_c.data(), b.grad_h, c.kind == RnnKind::kLstm ? b.grad_c : nullptr, static_cast<int>(steps.units()));
}

void recurrence(const Recurrence& c, const RecurrenceForward& f) {
  if (c.batch == 0 || c.hidden == 0) return;
  const int64_t gates = gates_of(c.kind);
  const Shares shares(gates * c.hidden, c.hidden);
  const int64_t numbers = 2 + gates * shares.parts;
  if (!by_blocks(c, bytes_of_row(c, numbers))) return run_steps(c, f);
  launch_blocks("recurrence", c, shares, numbers, f.gates, f.transposed, f.bias, c.h, c.c, f.output, f.last_c, f.saved);
}

void recurrence_backward(const Recurrence& c, const RecurrenceBackward& b) {
  if (c.steps == 0 || c.batch == 0 || c.hidden == 0) return;
  const int64_t gates = gates_of(c.kind);
  const Shares shares(c.hidden, gates * c.hidden);
  const int64_t numbers = 2 + gates + shares.parts;
  if (!by_blocks(c, bytes_of_row(c, numbers))) return run_steps_backward(c, b);
  launch_blocks("recurrence_backward", c, shares, numbers, b.grad_output, b.grad_last_c, b.saved, b.output, c.h, c.c,
                b.weight, b.grad_gates, b.grad_state_gates, b.grad_h, b.grad_c);
}

const bool registered =
    (blocks::recurrence.set(kCUDA, recurrence), blocks::recurrence_backward.set(kCUDA, recurrence_backward), true);

}  // namespace
}  // namespace argand::cuda
