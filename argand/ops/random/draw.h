// Shared parts of the random ops: the generator to draw from, and the order in which a tensor is filled.
#pragma once
#include "argand/core/cpu_generator.h"
#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"
#include "argand/kernels/api/draw.h"

namespace argand::ops {

// For the CPU.  A GPU op that runs on the CPU because it has no kernel draws from a separate stream, which starts at
// the GPU generator's position and advances that generator.  DeviceError if `g` is not of the op's device.
CpuGeneratorImpl& generator_of(const std::optional<Generator>& g);

// Fills a contiguous tensor on a GPU.
void draw_on_device(const Tensor& t, const Draw& draw, const std::optional<Generator>& g);

// The dimensions of `t`, slowest first, which is the order in which PyTorch draws.
Dims memory_order(const Tensor& t);
// `t` with its dimensions in that order.
Tensor in_memory_order(const Tensor& t);

// Calls fill(memory) once with a contiguous tensor whose elements become those of `out`, drawn in memory order.
template <class Fill>
void fill_in_memory_order(const Tensor& out, Fill fill) {
  if (out.numel() == 0) return;
  const Tensor ordered = out.is_contiguous() ? out : in_memory_order(out);
  if (ordered.is_contiguous()) return fill(ordered);
  const Tensor buffer = exec::new_tensor({ordered.impl().sizes, ordered.dtype()}, out.device());
  fill(buffer);
  exec::copy_elements(ordered, buffer);
}

// Fill `out` with samples; its dtype and the parameters were checked.
void draw_uniform(const Tensor& out, double from, double to, const std::optional<Generator>& g);
void draw_normal(const Tensor& out, double mean, double std, const std::optional<Generator>& g);
void draw_integers(const Tensor& out, int64_t from, uint64_t range, const std::optional<Generator>& g);
// Those of [from, to), where the dtype can hold the bounds: see first_drawn.
void draw_between(const Tensor& out, int64_t from, int64_t to, const std::optional<Generator>& g);

// The bounds of the integers that are drawn for [from, to).  A floating-point dtype may round `to - 1` up to `to`,
// which must not come, and the numbers beside it, which would round so, too; and `from + 1` down to less than `from`.
// The bounds are then moved to the nearest numbers of the dtype that are safe, as in PyTorch, whose stream depends on
// it.
int64_t first_drawn(int64_t from, ScalarType dtype);
int64_t end_of_drawn(int64_t to, ScalarType dtype);

// Bits of the significand of a floating-point dtype: all integers up to 2^digits are numbers of it.
int integer_digits(ScalarType dtype);

// ValueError unless low < high, also as bounds in `dtype`, and both fit `dtype`.
void check_integer_range(const char* op, int64_t low, int64_t high, ScalarType dtype);

}  // namespace argand::ops
