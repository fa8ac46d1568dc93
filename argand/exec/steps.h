// Runs a pointwise program step by step, each step as a program of its own, while the kernel of the whole program is
// not ready yet.  The bits are the same, because a step's result is rounded to its dtype either way.
#pragma once
#include "argand/core/allocator.h"
#include "argand/exec/program_runner.h"

namespace argand::exec {

class Steps {
 public:
  explicit Steps(const PointwiseProgram& program);

  // The steps in order, without those whose results are not read.  A result that the whole program keeps in a register
  // has dense memory of its own here; until run() its address only says that it is aligned for every access.
  const std::vector<PointwiseProgram>& programs() const { return programs_; }

  // Call it once.  It takes memory from `allocator` and frees it.  It throws OutOfMemoryError before any step runs.
  void run(Allocator& allocator, ProgramRunner runner);

 private:
  struct Use {
    size_t program, value;
    size_t buffer;
  };
  std::vector<PointwiseProgram> programs_;
  std::vector<Use> uses_;        // of buffers, by values of programs_
  std::vector<size_t> buffers_;  // bytes of each
};

}  // namespace argand::exec
