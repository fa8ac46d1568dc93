#include "argand/ops/create/uninitialized.h"

#include <atomic>
#include <limits>

#include "argand/core/dispatch.h"
#include "argand/core/grad_mode.h"
#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"

namespace argand::ops {
namespace {

std::atomic<bool> fills{false};

Scalar conspicuous(ScalarType type) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (is_complex(type)) return Scalar(std::complex<double>(nan, nan));
  if (!is_integral(type) && type != kBool) return Scalar(nan);
  if (type == kBool) return Scalar(true);
  const int64_t bits = 8 * element_size(type) - (type == kByte ? 0 : 1);
  return Scalar(bits == 63 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << bits) - 1);
}

}  // namespace

bool fills_uninitialized() { return fills.load(std::memory_order_relaxed); }
void set_fills_uninitialized(bool on) { fills.store(on, std::memory_order_relaxed); }

void fill_uninitialized(const Tensor& t, int64_t first) {
  if (!fills_uninitialized() || t.is_meta()) return;
  const int64_t count = static_cast<int64_t>(t.storage()->nbytes()) / t.itemsize() - first;
  if (count <= 0) return;
  const NoGradGuard no_grad;
  exec::alias(t, Dims{count}, Dims{1}, first).fill_(conspicuous(t.dtype()));
}

}  // namespace argand::ops
