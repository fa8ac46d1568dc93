#include "argand/runtime/cuda/cufft_library.h"

#if ARGAND_CUFFT

#include "argand/base/str.h"
#include "argand/runtime/cuda/dynamic_library.h"

namespace argand::cuda {
namespace {

const CufftLibrary* load() {
  const DynamicLibrary library(str("libcufft.so.", CUFFT_VER_MAJOR), ARGAND_CUFFT_PATH);
  auto* all = new CufftLibrary;
  const bool complete =
      library.find(all->create, "cufftCreate") && library.find(all->destroy, "cufftDestroy") &&
      library.find(all->set_auto_allocation, "cufftSetAutoAllocation") &&
      library.find(all->set_stream, "cufftSetStream") && library.find(all->set_work_area, "cufftSetWorkArea") &&
      library.find(all->make_plan, "cufftXtMakePlanMany") && library.find(all->execute, "cufftXtExec");
  if (complete) return all;
  delete all;
  return nullptr;
}

}  // namespace

const CufftLibrary* find_cufft() {
  static const CufftLibrary* const library = load();
  return library;
}

}  // namespace argand::cuda

#endif
