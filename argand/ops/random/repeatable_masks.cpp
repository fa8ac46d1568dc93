#include "argand/ops/random/repeatable_masks.h"

#include <cstring>
#include <vector>

#include "argand/core/no_draws.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/functions.h"
#include "argand/ops/random/draw.h"
#include "argand/runtime/backend.h"

namespace argand::ops {

TensorMeta RepeatableMasks::state_meta(const Device& device, double p) {
  const bool draws = p > 0 && p < 1;
  const auto of_cpu = [] { return static_cast<int64_t>(make_cpu_generator().state().size()); };
  return {{!draws ? 0 : device.is_cpu() ? of_cpu() : int64_t{2 * sizeof(uint64_t)}}, kByte};
}

void RepeatableMasks::take(const Tensor& state, int64_t elements, int64_t masks) {
  if (state.numel() == 0) return;
  if (!state.is_cpu()) {
    const Device& device = state.device();
    const Generator& generator = backend_of(device.type()).default_generator(device.index());
    check_draws_allowed();
    return blocks::keep_numbers.on(device)(*generator.impl_ptr(), static_cast<uint64_t>(masks) * kNumbersOfMask,
                                           state.impl().data());
  }
  constexpr uint64_t kWords = 2;  // per element, as in bernoulli_()
  CpuGeneratorImpl& generator = generator_of({});
  const std::lock_guard lock(generator.mutex_);
  const std::vector<uint8_t> bytes = generator.state();
  std::memcpy(raw<uint8_t>(state), bytes.data(), bytes.size());
  generator.engine().discard(kWords * static_cast<uint64_t>(elements));
}

RepeatableMasks::RepeatableMasks(const Tensor& state, double p) : state_(state), p_(p) {
  if (state.numel() == 0 || !state.is_cpu()) return;
  const uint8_t* bytes = raw<uint8_t>(state);
  repeated_ = make_cpu_generator();
  repeated_->set_state({bytes, bytes + state.numel()});
}

Tensor RepeatableMasks::next(const Dims& sizes, ScalarType dtype) {
  const TensorOptions options = TensorOptions(state_.device()).dtype(dtype);
  if (state_.numel() == 0) return zeros(sizes, options);
  if (repeated_) return empty(sizes, options).bernoulli_(1 - p_, repeated_).div_(1 - p_);
  const DropShare share(p_);
  Draw draw{Draw::kKept};
  draw.from = static_cast<int64_t>(share.below);
  draw.state = state_.impl().data();
  draw.skipped = static_cast<uint64_t>(drawn_++) * kNumbersOfMask;
  const Tensor kept = empty(sizes, options.dtype(kBool));
  draw_on_device(kept, draw, {});
  return kept.to(dtype).mul_(share.scale);
}

}  // namespace argand::ops
