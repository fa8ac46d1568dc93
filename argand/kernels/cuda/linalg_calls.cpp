#include "argand/kernels/cuda/linalg_calls.h"

#include <limits>

#include "argand/kernels/api/sequence.h"
#include "argand/runtime/cuda/dry_run.h"

namespace argand::cuda {

bool calls_libraries() {
  if (dry_run()) return false;
  if (!has_cusolver()) throw NotOnDevice("matrices without the libraries cuSOLVER and cuBLAS");
  return true;
}

int size_for_library(int64_t n) {
  if (n > std::numeric_limits<int>::max()) throw NotOnDevice("matrices or batches of 2^31 or more");
  return static_cast<int>(n);
}

bool in_one_batch(int64_t n, int64_t batch) { return batch > 1 && (n <= 64 || (n <= 512 && batch >= n / 8)); }

Addresses::Addresses(const void* first, int64_t bytes_apart, int64_t count)
    : memory_(static_cast<size_t>(count) * sizeof(void*)) {
  Sequence addresses{Sequence::kIntegers};
  addresses.first = static_cast<int64_t>(reinterpret_cast<uintptr_t>(first));
  addresses.step = bytes_apart;
  blocks::fill_sequence.of(kCUDA)(addresses, kLong, memory_.data(), count);
}

}  // namespace argand::cuda
