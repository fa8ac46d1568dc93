#include <algorithm>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/kernel_source.h"

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

// So many sequences a block that all blocks run at once, where memory allows.
int64_t rows_of_block(int64_t batch, int64_t bytes_of_row) {
  int64_t rows = 1;
  while (rows < kMostRows && rows * multi_processor_count() < batch &&
         2 * rows * bytes_of_row <= shared_memory_per_block())
    rows *= 2;
  return rows;
}

template <class... Args>
void launch_blocks(const char* name, const Recurrence& c, const Shares& shares, int64_t numbers_of_unit, Args... args) {
  if (c.batch == 0 || c.hidden == 0) return;
  const int64_t bytes_of_row = c.hidden * numbers_of_unit * element_size(op_math_type(c.type)),
                rows = rows_of_block(c.batch, bytes_of_row);
  if (bytes_of_row > shared_memory_per_block()) throw NotOnDevice();
  const Kernel run = kernel_instance(kHeader, name, c.type, static_cast<int>(c.kind), static_cast<int>(rows));
  const auto bytes = static_cast<size_t>(rows * bytes_of_row);
  run.allow_shared_memory(bytes);
  launch(run,
         {.blocks = blocks_for(c.batch, rows),
          .threads = static_cast<unsigned>(shares.lanes * shares.parts),
          .shared_memory = bytes},
         args..., static_cast<int>(c.steps), static_cast<int>(c.batch), static_cast<int>(c.hidden),
         static_cast<int>(shares.parts), c.reverse);
}

void recurrence(const Recurrence& c, const RecurrenceForward& f) {
  const int64_t gates = gates_of(c.kind);
  const Shares shares(gates * c.hidden, c.hidden);
  launch_blocks("recurrence", c, shares, 2 + gates * shares.parts, f.gates, f.transposed, f.bias, c.h, c.c, f.output,
                f.last_c, f.saved);
}

void recurrence_backward(const Recurrence& c, const RecurrenceBackward& b) {
  const int64_t gates = gates_of(c.kind);
  const Shares shares(c.hidden, gates * c.hidden);
  launch_blocks("recurrence_backward", c, shares, 2 + gates + shares.parts, b.grad_output, b.grad_last_c, b.saved,
                b.output, c.h, c.c, b.weight, b.grad_gates, b.grad_state_gates, b.grad_h, b.grad_c);
}

const bool registered =
    (blocks::recurrence.set(kCUDA, recurrence), blocks::recurrence_backward.set(kCUDA, recurrence_backward), true);

}  // namespace
}  // namespace argand::cuda
