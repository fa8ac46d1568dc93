// See mutants.h, which is not included here: there the array is constant.
#include <cstddef>
#include <cstdlib>

namespace {
constexpr int kMost = 4096;  // faults
enum : unsigned char { kOff, kOn, kRecorded };
bool reached[kMost];
bool recording = false;
}  // namespace

extern "C" {
unsigned char argand_mutant_state[kMost];

bool argand_mutant_on(int number) {
  if (argand_mutant_state[number] != kRecorded) return true;
  reached[number] = true;
  argand_mutant_state[number] = kOff;  // once a test is enough
  return false;
}

std::size_t argand_mutants_reached(int* numbers, std::size_t most) {
  std::size_t n = 0;
  for (int i = 0; i < kMost && n < most; ++i) {
    if (reached[i]) numbers[n++] = i;
    reached[i] = false;
  }
  for (int i = 0; recording && i < kMost; ++i) argand_mutant_state[i] = kRecorded;
  return n;
}
}

// Before any other initialisation of the library: tables that are made there may have faults, too.
__attribute__((constructor(101))) static void read_environment() {
  recording = std::getenv("ARGAND_MUTANTS_RECORD") != nullptr;
  if (const char* number = std::getenv("ARGAND_MUTANT")) argand_mutant_state[std::atoi(number)] = kOn;
}
