// A scope in which the calling thread may not draw random numbers.  The Python package's vmap uses it where nobody said
// whether all slices shall get the same numbers.
#pragma once

namespace argand {

class NoDrawsGuard {
 public:
  NoDrawsGuard();
  ~NoDrawsGuard();
  NoDrawsGuard(const NoDrawsGuard&) = delete;
  NoDrawsGuard& operator=(const NoDrawsGuard&) = delete;
};

// An op calls this before it takes numbers from a generator.  Error within a NoDrawsGuard.
void check_draws_allowed();

}  // namespace argand
