// `argand mem`.
#pragma once
#include <cstdint>
#include <string>

namespace argand::cli {

struct MemOptions {
  std::string arch = "cnn";
  int64_t batch_size = 64;
  int64_t steps = 3;
  std::string optimizer = "adam";
  std::string device = "cuda";
  uint64_t seed = 0;
  std::string snapshot;  // a file to write, .json or .html; empty: none
};

// Trains on random images and prints what the device's memory holds then.  Returns the exit status.  DeviceError for a
// device that keeps no such books, or cannot be used.
int print_memory(const MemOptions& options);

}  // namespace argand::cli
