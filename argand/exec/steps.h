// A pointwise program run step by step, each step as a program of its own: the same bits, because a step's result is
// rounded to its dtype either way.  For when the kernel of the whole is not there yet.
#pragma once
#include "argand/core/allocator.h"
#include "argand/exec/program_runner.h"

namespace argand::exec {

class Steps {
 public:
  explicit Steps(const PointwiseProgram& program);

  // In order, without those whose results nobody reads.  A result that the whole program keeps in a register has memory
  // of its own here, dense; until run() its address only says that it is aligned for every access.
  const std::vector<PointwiseProgram>& programs() const { return programs_; }

  // Once.  Memory is from `allocator`, and given back.  OutOfMemoryError before anything ran.
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
