// The driver's functions that the CUDA runtime has no form of, found at run time: the library links no driver.
#pragma once
#include <cuda.h>

namespace argand::cuda {

struct Driver {
  decltype(&cuMemAddressReserve) mem_address_reserve;
  decltype(&cuMemAddressFree) mem_address_free;
  decltype(&cuMemCreate) mem_create;
  decltype(&cuMemRelease) mem_release;
  decltype(&cuMemMap) mem_map;
  decltype(&cuMemUnmap) mem_unmap;
  decltype(&cuMemSetAccess) mem_set_access;
  decltype(&cuMemGetAllocationGranularity) mem_get_allocation_granularity;
  decltype(&cuMemExportToShareableHandle) mem_export_to_shareable_handle;
  decltype(&cuMemImportFromShareableHandle) mem_import_from_shareable_handle;
  decltype(&cuKernelGetParamInfo) kernel_get_param_info;
};
// DeviceError if the driver lacks one.
const Driver& driver();

}  // namespace argand::cuda
