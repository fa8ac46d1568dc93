// The CPU generator: MT19937, drawn from as PyTorch does, so that a program ported from PyTorch sees the same numbers.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "argand/core/generator.h"
#include "argand/core/mt19937.h"

namespace argand {

class CpuGeneratorImpl final : public GeneratorImpl {
 public:
  explicit CpuGeneratorImpl(uint64_t seed = kDefaultSeed);
  ~CpuGeneratorImpl() override;
  static constexpr DeviceType kDeviceType = kCPU;

  // The engine takes the lower 32 bits of `seed`: 0 and 2^32 give the same stream.
  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return seed_; }

  // 5056 bytes, the layout of PyTorch's `torch.get_rng_state()` (each side restores what the other saved).  Little
  // endian: seed u64; words left i32; 1 i32; position u64; 624 words, each in a u64; 8 bytes 0; cached normal f64;
  // 8 bytes 0; 1 if there is a cached normal, else 0, i32; 12 bytes 0.
  std::vector<uint8_t> state() const override;
  void set_state(const std::vector<uint8_t>& state) override;
  uint64_t take_seed() override { return random64(); }
  intrusive_ptr<GeneratorImpl> clone() const override;

  uint32_t random() { return engine_(); }
  // The first draw is the upper half.
  uint64_t random64() {
    const uint64_t high = engine_();
    return (high << 32) | engine_();
  }
  Mt19937& engine() { return engine_; }

  // The polar method makes normal samples in pairs; the second one waits here for the next draw.
  std::optional<double> take_cached_normal() { return std::exchange(cached_normal_, std::nullopt); }
  void cache_normal(double sample) { cached_normal_ = sample; }

 private:
  uint64_t seed_;
  Mt19937 engine_;
  std::optional<double> cached_normal_;
};

// The generator that CPU ops use when given none.
Generator& default_cpu_generator();
Generator make_cpu_generator(uint64_t seed = kDefaultSeed);

// Makes `g` the default generator of another device: seeded as manual_seed() last said, now and from now on.  Thread
// safe.
void add_default_generator(const Generator& g);

// Seeds the default generators of all devices; returns the CPU's.  Thread safe.
Generator manual_seed(uint64_t seed);

}  // namespace argand
