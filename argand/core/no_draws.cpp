#include "argand/core/no_draws.h"

#include "argand/base/error.h"

namespace argand {

static thread_local int guards = 0;

NoDrawsGuard::NoDrawsGuard() { ++guards; }
NoDrawsGuard::~NoDrawsGuard() { --guards; }

void check_draws_allowed() {
  ARGAND_CHECK(Error, guards == 0,
               "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
               "'different' randomness flags on vmap or perform the randomness operation out of vmap");
}

}  // namespace argand
