#include "argand/runtime/cuda/driver.h"

#include "argand/base/error.h"
#include "argand/runtime/cuda/check.h"

namespace argand::cuda {
namespace {

template <class F>
void find(F& function, const char* name, unsigned version = 12000) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  ARGAND_CUDA(cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result));
  ARGAND_CHECK(DeviceError, result == cudaDriverEntryPointSuccess && found, "the NVIDIA driver is too old: it has no ",
               name, "; update the driver, or use device 'cpu'");
  function = reinterpret_cast<F>(found);
}

}  // namespace

const Driver& driver() {
  static const Driver& d = *[] {
    auto* all = new Driver;
    find(all->mem_address_reserve, "cuMemAddressReserve");
    find(all->mem_address_free, "cuMemAddressFree");
    find(all->mem_create, "cuMemCreate");
    find(all->mem_release, "cuMemRelease");
    find(all->mem_map, "cuMemMap");
    find(all->mem_unmap, "cuMemUnmap");
    find(all->mem_set_access, "cuMemSetAccess");
    find(all->mem_get_allocation_granularity, "cuMemGetAllocationGranularity");
    find(all->mem_export_to_shareable_handle, "cuMemExportToShareableHandle");
    find(all->mem_import_from_shareable_handle, "cuMemImportFromShareableHandle");
    find(all->kernel_get_param_info, "cuKernelGetParamInfo", 12040);
    return all;
  }();
  return d;
}

}  // namespace argand::cuda
