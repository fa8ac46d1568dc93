// What part of a device's memory this process may reserve: beside MemoryMonitor, for allocators that have such a limit.
#pragma once

namespace argand {

class MemoryFraction {
 public:
  virtual ~MemoryFraction() = default;
  virtual double memory_fraction() = 0;  // what set_memory_fraction() was last given; 1 if nothing
};

}  // namespace argand
