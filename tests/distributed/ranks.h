// Tests that run in several processes: this program again, once for each rank, with one of its tests.
#pragma once
#include <string>

namespace argand::test {

// The variables of torchrun say what each is; how many failed.
int run_processes(int size, const std::string& test);
// The same, started by mpirun; returns the exit status of mpirun.
int run_by_mpirun(int size, const std::string& test);

}  // namespace argand::test
