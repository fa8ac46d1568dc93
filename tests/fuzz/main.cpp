// libFuzzer's entry to one target; run.py compiles it for each of them.
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  std::atexit([] { std::fprintf(stderr, "stat::accepted_inputs: %zu\n", argand::fuzz::accepted); });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0) argand::fuzz::ARGAND_FUZZ_TARGET(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
