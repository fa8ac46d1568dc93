// Devices and their types, by c10's names.
#pragma once
#include <string>

#include "argand/core/device.h"
#include "c10/namespaces.h"

namespace c10 {
// "CUDA", or "cuda".
inline std::string DeviceTypeName(DeviceType type, bool lower_case = false) {
  std::string name = device_type_name(type);
  if (!lower_case)
    for (char& c : name) c = static_cast<char>(c - 'a' + 'A');
  return name;
}
}  // namespace c10
