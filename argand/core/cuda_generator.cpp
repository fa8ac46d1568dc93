#include "argand/core/cuda_generator.h"

#include <bit>
#include <cstring>

namespace argand {
namespace {

struct SavedState {
  uint64_t seed;
  int64_t offset;
};
static_assert(sizeof(SavedState) == 16 && std::endian::native == std::endian::little);

// A seed of which each bit depends on all bits of both numbers (Steele, Lea and Flood, "Fast splittable pseudorandom
// number generators", 2014): neighbouring seeds and offsets have nothing in common.
uint64_t mixed(uint64_t seed, uint64_t offset) {
  const auto mix = [](uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  };
  constexpr uint64_t kGoldenGamma = 0x9e3779b97f4a7c15;
  return mix(mix(seed + kGoldenGamma) + (offset + 1) * kGoldenGamma);
}

}  // namespace

void CudaGeneratorImpl::set_current_seed(uint64_t seed) {
  seed_ = seed;
  offset_ = 0;
}

std::vector<uint8_t> CudaGeneratorImpl::state() const {
  const SavedState saved{seed_, static_cast<int64_t>(offset_)};
  std::vector<uint8_t> bytes(sizeof saved);
  std::memcpy(bytes.data(), &saved, sizeof saved);
  return bytes;
}

void CudaGeneratorImpl::set_state(const std::vector<uint8_t>& state) {
  ARGAND_CHECK(ValueError, state.size() == sizeof(SavedState), "Generator: expected a CUDA state of ",
               sizeof(SavedState), " bytes, got ", state.size());
  SavedState saved;
  std::memcpy(&saved, state.data(), sizeof saved);
  ARGAND_CHECK(ValueError,
               saved.offset >= 0 && CudaGeneratorImpl::rounded(static_cast<uint64_t>(saved.offset)) ==
                                        static_cast<uint64_t>(saved.offset),
               "Generator: this CUDA state is damaged (offset ", saved.offset, ")");
  seed_ = saved.seed;
  offset_ = static_cast<uint64_t>(saved.offset);
}

intrusive_ptr<GeneratorImpl> CudaGeneratorImpl::clone() const {
  auto copy = make_intrusive<CudaGeneratorImpl>(device(), seed_);
  copy->offset_ = offset_;
  return copy;
}

uint64_t CudaGeneratorImpl::advance(uint64_t count) {
  const uint64_t begin = offset_;
  offset_ += rounded(count);
  return begin;
}

uint64_t CudaGeneratorImpl::take_seed() { return mixed(seed_, advance(4)); }

Generator make_cuda_generator(Device device, uint64_t seed) {
  return Generator(make_intrusive<CudaGeneratorImpl>(device, seed));
}

}  // namespace argand
