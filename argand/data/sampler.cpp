#include "argand/data/sampler.h"

#include <numeric>

#include "argand/core/cpu_generator.h"
#include "argand/kernels/cpu/random.h"

namespace argand::data {

std::vector<int64_t> SequentialSampler::next_order(int64_t size) {
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int64_t> RandomSampler::next_order(int64_t size) {
  std::vector<int64_t> order(static_cast<size_t>(size));
  Generator g = generator_.defined() ? generator_ : default_cpu_generator();
  cpu::randperm(*g.get<CpuGeneratorImpl>(), order.data(), size);
  return order;
}

}  // namespace argand::data
