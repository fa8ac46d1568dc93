// kernels/api/scan.h on the CPU.
#pragma once
#include "argand/kernels/api/scan.h"

namespace argand::cpu {

RunScan scan;
RunScanLinear scan_linear;
RunScanExtreme scan_extreme;

}  // namespace argand::cpu
