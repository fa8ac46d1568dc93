// From the start of a process to the first result of a device, which is all that this one does; bench/run.py times it.
#include <cstdio>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

int main(int argc, char** argv) {
  const argand::Device device(argc > 1 ? argv[1] : "cpu");
  std::printf("%g\n", (argand::ones({8}, argand::TensorOptions(device)) + 1).sum().item<double>());
}
