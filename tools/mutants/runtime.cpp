// See runtime.h, which the build has as argand/base/mutants.h and which is not included here: there the array is
// constant.
#include <cstddef>
#include <cstdlib>

namespace {
constexpr int kMost = 4096;  // faults
bool reached[kMost];
bool recording = false;
int switched_on = -1;
}  // namespace

extern "C" {
unsigned char argand_mutant_state[kMost];

// Several threads may come by at once; the answer must not depend on what another one has written.
bool argand_mutant_on(int number) {
  if (number == switched_on) return true;
  reached[number] = true;
  argand_mutant_state[number] = 0;  // once a test is enough
  return false;
}

std::size_t argand_mutants_reached(int* numbers, std::size_t most) {
  std::size_t n = 0;
  for (int i = 0; i < kMost && n < most; ++i) {
    if (reached[i]) numbers[n++] = i;
    reached[i] = false;
  }
  for (int i = 0; recording && i < kMost; ++i) argand_mutant_state[i] = 1;
  return n;
}
}

// Before any other initialisation of the library: tables that are made there may have faults, too.
__attribute__((constructor(101))) static void read_environment() {
  recording = std::getenv("ARGAND_MUTANTS_RECORD") != nullptr;
  const char* number = std::getenv("ARGAND_MUTANT");
  if (!number) return;
  switched_on = std::atoi(number);
  argand_mutant_state[switched_on] = 1;
}
