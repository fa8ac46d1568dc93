// The generators of CUDA devices: Philox4x32-10 (Salmon et al., 2011), counter-based.  A draw is a function of (seed,
// thread, offset), so the state is two numbers, and nothing of CUDA is needed to keep it.
#pragma once
#include "argand/core/generator.h"

namespace argand {

class CudaGeneratorImpl final : public GeneratorImpl {
 public:
  explicit CudaGeneratorImpl(Device device, uint64_t seed = kDefaultSeed) : GeneratorImpl(device), seed_(seed) {}
  static constexpr DeviceType kDeviceType = kCUDA;

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return seed_; }
  uint64_t offset() const { return offset_; }

  // 16 bytes, the layout of PyTorch's `torch.cuda.get_rng_state()`, little endian: seed u64, offset i64.
  std::vector<uint8_t> state() const override;
  void set_state(const std::vector<uint8_t>& state) override;
  uint64_t take_seed() override;
  intrusive_ptr<GeneratorImpl> clone() const override;

  // Returns the offset at which the next draw begins and moves past it; each thread of the draw takes up to `count`
  // numbers.  Offsets are multiples of 4, the numbers that one round of Philox makes.
  uint64_t advance(uint64_t count);
  // The distance by which such a draw moves the offset.
  static constexpr uint64_t rounded(uint64_t count) { return (count + 3) / 4 * 4; }

 private:
  uint64_t seed_, offset_ = 0;
};

Generator make_cuda_generator(Device device, uint64_t seed = kDefaultSeed);

}  // namespace argand
