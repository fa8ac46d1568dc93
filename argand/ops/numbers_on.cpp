#include "argand/ops/numbers_on.h"

#include <algorithm>

#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"
#include "argand/kernels/blocks.h"

namespace argand::ops {

Tensor numbers_on(const Device& device, IntArrayRef numbers) {
  const auto n = static_cast<int64_t>(numbers.size());
  const Tensor out = exec::new_tensor({{n}, kLong}, device);
  if (n == 0 || device.is_meta()) return out;
  if (!device.is_cpu() && n <= kMostPutNumbers && blocks::put_numbers.has(device.type())) {
    blocks::put_numbers.on(device)(numbers.data(), n, static_cast<int64_t*>(out.impl().data()));
    return out;
  }
  const Tensor host = device.is_cpu() ? out : exec::new_tensor({{n}, kLong}, kCPU);
  std::copy(numbers.begin(), numbers.end(), raw<int64_t>(host));
  if (!device.is_cpu()) exec::copy_elements(out, host);
  return out;
}

}  // namespace argand::ops
