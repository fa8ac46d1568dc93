#include "argand/core/no_draws.h"
#include "argand/ops/random/draw.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "argand/exec/fallback.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cpu/random.h"
#include "argand/ops/functions.h"
#include "argand/runtime/backend.h"

namespace argand::ops {
namespace {

// A complex tensor as alternating real and imaginary parts.
Tensor parts_of(const Tensor& t) {
  Dims sizes = t.impl().sizes;
  Dims strides;
  for (const int64_t s : t.strides()) strides.push_back(2 * s);
  sizes.push_back(2);
  strides.push_back(1);
  return Tensor(make_intrusive<TensorImpl>(t.storage(), std::move(sizes), std::move(strides), 2 * t.storage_offset(),
                                           to_real_type(t.dtype())));
}

template <class F>
void with_floats(const Tensor& t, const char* op, F f) {
  dispatch<kFloatingTypes>(t.dtype(), op, [&](auto tag) {
    using T = typename decltype(tag)::type;
    f(raw<T>(t), t.numel());
  });
}

const Generator& of_device(const Device& device, const std::optional<Generator>& g) {
  const Generator& generator = g && g->defined() ? *g : backend_of(device.type()).default_generator(device.index());
  ARGAND_CHECK(DeviceError, generator.device() == device, "Generator: expected a generator for ", device,
               ", got one for ", generator.device());
  return generator;
}

}  // namespace

CpuGeneratorImpl& generator_of(const std::optional<Generator>& g) {
  const Device& device = exec::device_of_fallback();
  if (device.is_cpu()) {
    const Generator given = g && g->defined() ? *g : default_cpu_generator();
    check_draws_allowed();
    return *given.get<CpuGeneratorImpl>();
  }
  GeneratorImpl& other = *of_device(device, g).impl_ptr();
  check_draws_allowed();
  // Not thread_local: a library that is loaded later (by Python) gets little thread-local memory.
  thread_local const auto stream = std::make_unique<CpuGeneratorImpl>();
  const std::lock_guard lock(other.mutex_);
  stream->set_current_seed(other.take_seed());
  return *stream;
}

void draw_on_device(const Tensor& t, const Draw& draw, const std::optional<Generator>& g) {
  const Device& device = t.device();
  const Generator& generator = of_device(device, g);
  check_draws_allowed();
  blocks::run_draw.on(device)(draw, t.dtype(), t.impl().data(), t.numel(), *generator.impl_ptr());
}

Dims memory_order(const Tensor& t) {
  Dims order(t.sizes().size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return t.strides()[a] > t.strides()[b]; });
  return order;
}

Tensor in_memory_order(const Tensor& t) {
  Dims sizes, strides;
  for (const int64_t d : memory_order(t)) {
    sizes.push_back(t.sizes()[d]);
    strides.push_back(t.strides()[d]);
  }
  return exec::alias(t, std::move(sizes), std::move(strides), t.storage_offset());
}

void draw_uniform(const Tensor& out, double from, double to, const std::optional<Generator>& g) {
  if (out.is_complex()) return draw_uniform(parts_of(out), from, to, g);
  fill_in_memory_order(out, [&](const Tensor& t) {
    if (!t.is_cpu()) return draw_on_device(t, {Draw::kUniform, from, to}, g);
    with_floats(t, "uniform_", [&](auto* p, int64_t n) { cpu::uniform(generator_of(g), p, n, from, to); });
  });
}

void draw_normal(const Tensor& out, double mean, double std, const std::optional<Generator>& g) {
  // The variance is that of both parts together; the mean is that of each part, as in PyTorch.
  if (out.is_complex()) return draw_normal(parts_of(out), mean, std / std::sqrt(2.0), g);
  const bool serial = !out.is_contiguous();  // PyTorch fills only contiguous tensors by blocks
  fill_in_memory_order(out, [&](const Tensor& t) {
    if (!t.is_cpu()) return draw_on_device(t, {Draw::kNormal, mean, std}, g);
    with_floats(t, "normal_", [&](auto* p, int64_t n) {
      if (serial)
        cpu::normal_serial(generator_of(g), p, n, mean, std);
      else
        cpu::normal(generator_of(g), p, n, mean, std);
    });
  });
}

void draw_integers(const Tensor& out, int64_t from, uint64_t range, const std::optional<Generator>& g) {
  fill_in_memory_order(out, [&](const Tensor& t) {
    if (!t.is_cpu()) {
      const bool wide = range == 0 || range >= uint64_t{1} << 28;
      return draw_on_device(t, {Draw::kIntegers, 0, 0, from, range, wide}, g);
    }
    dispatch<kRealTypes>(t.dtype(), "random_", [&](auto tag) {
      using T = typename decltype(tag)::type;
      cpu::random_from_to(generator_of(g), raw<T>(t), t.numel(), from, range);
    });
  });
}

int integer_digits(ScalarType dtype) {
  return dtype == kHalf ? 11 : dtype == kBFloat16 ? 8 : dtype == kFloat ? 24 : 53;
}

// What `value` becomes in a dtype; itself if that is no int64.
static int64_t rounded(int64_t value, ScalarType dtype) {
  return dispatch<kFloatingTypes>(dtype, "random_", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto number = static_cast<double>(static_cast<op_math_t<T>>(T(static_cast<op_math_t<T>>(value))));
    return std::abs(number) < 0x1p63 ? static_cast<int64_t>(number) : value;
  });
}
// The distance between numbers of a dtype that are as large as `value`.
static int64_t spacing(int64_t value, ScalarType dtype) {
  const uint64_t size = value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return int64_t{1} << std::max(static_cast<int>(std::bit_width(size)) - integer_digits(dtype), 0);
}

int64_t first_drawn(int64_t from, ScalarType dtype) {
  if (!is_floating_point(dtype) || from == std::numeric_limits<int64_t>::max()) return from;
  const int64_t next = rounded(from + 1, dtype);
  return next < from ? next + spacing(from + 1, dtype) : from;
}
int64_t end_of_drawn(int64_t to, ScalarType dtype) {
  if (!is_floating_point(dtype)) return to;
  const int64_t last = rounded(to - 1, dtype);
  return last >= to ? last - spacing(to - 1, dtype) : to;
}

void draw_between(const Tensor& out, int64_t from, int64_t to, const std::optional<Generator>& g) {
  from = first_drawn(from, out.dtype()), to = end_of_drawn(to, out.dtype());
  draw_integers(out, from, static_cast<uint64_t>(to) - static_cast<uint64_t>(from), g);
}

void check_integer_range(const char* op, int64_t low, int64_t high, ScalarType dtype) {
  ARGAND_CHECK(ValueError, low < high, op, " expects 'from' to be less than 'to', but got from=", low, " >= to=", high);
  const auto check = [&](int64_t least, int64_t most) {
    ARGAND_CHECK(ValueError, low >= least && low <= most, op, ": from is out of bounds for ", dtype, ", got ", low);
    ARGAND_CHECK(ValueError, high - 1 >= least && high - 1 <= most, op, ": to - 1 is out of bounds for ", dtype,
                 ", got ", high - 1);
  };
  dispatch<kRealTypes>(dtype, op, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>)
      check(0, 1);
    else if constexpr (std::is_same_v<T, Half>)
      check(-65504, 65504);
    else if constexpr (std::is_integral_v<T>)
      check(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  });
  ARGAND_CHECK(ValueError, first_drawn(low, dtype) < end_of_drawn(high, dtype), op,
               " expects 'from' casted to dtype to be less than 'to' casted to dtype, but got from=",
               first_drawn(low, dtype), " >= to=", end_of_drawn(high, dtype));
}

}  // namespace argand::ops
