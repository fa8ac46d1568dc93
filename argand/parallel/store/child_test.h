// Tests with several processes.
#pragma once
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

namespace argand::parallel::test {

// Runs `f` in a child, which exits with 1 if `f` throws, and which ends with this process unless `outlives`.
template <class F>
pid_t in_child(F f, bool outlives = false) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (!outlives) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    f();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "in a child: %s\n", e.what());
    ::_exit(1);
  }
  ::_exit(0);
}

}  // namespace argand::parallel::test
