// A user's program: it knows only the installed headers and the library.
#include <cstdio>

#if __has_include(<argand/argand.h>)
#include <argand/argand.h>

static bool works() { return argand::ones({2, 3}).sum().item<float>() == 6.0F; }
#else
#include <argand/base/error.h>

static bool works() { return argand::str("x = ", 0.5) == "x = 0.5"; }
#endif

int main() {
  const bool ok = works();
  std::puts(ok ? "consumer: the installed library works" : "consumer: wrong result");
  return ok ? 0 : 1;
}
