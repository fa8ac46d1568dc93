// cuFFT's functions, found in its library when first asked for: a program runs without it.
#pragma once

#if ARGAND_CUFFT

#include <cufftXt.h>

namespace argand::cuda {

struct CufftLibrary {
  decltype(&cufftCreate) create;
  decltype(&cufftDestroy) destroy;
  decltype(&cufftSetAutoAllocation) set_auto_allocation;
  decltype(&cufftSetStream) set_stream;
  decltype(&cufftSetWorkArea) set_work_area;
  decltype(&cufftXtMakePlanMany) make_plan;
  decltype(&cufftXtExec) execute;
};

// Null if it is not there.  Looked for where the system looks for libraries, then where the build found it.
const CufftLibrary* find_cufft();

}  // namespace argand::cuda

#endif
