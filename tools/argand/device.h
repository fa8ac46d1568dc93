// Which device a command runs on.
#pragma once
#include <string>

#include "argand/core/device.h"

namespace argand::cli {

// "auto": a GPU if one can be used, else the CPU.  DeviceError with the reason if the device asked for cannot be used.
Device choose_device(const std::string& text);
// Why no GPU is used; empty if one is.
std::string why_no_gpu();

}  // namespace argand::cli
