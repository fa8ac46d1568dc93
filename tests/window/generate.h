// Random programs.
#pragma once
#include "tests/window/machine.h"
#include "tests/window/model.h"

namespace argand::fuzz {

struct Generated {
  Program program;
  Seen expected;  // by the model
  Seen eager;     // by the library, window off: made on the way
};

// The same program for the same seed.  Some have tensors of tens of thousands of elements, so that tiles and chunks
// have borders; some run on several threads.
Generated generate(uint64_t seed, Threads& threads);

}  // namespace argand::fuzz
