#include "argand/core/generator.h"

#include <random>

namespace argand {

uint64_t nondeterministic_seed() {
  std::random_device entropy;
  const uint64_t high = entropy();
  return (high << 32) | entropy();
}

uint64_t GeneratorImpl::seed() {
  const uint64_t fresh = nondeterministic_seed();
  set_current_seed(fresh);
  return fresh;
}

}  // namespace argand
