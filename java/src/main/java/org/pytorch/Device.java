package org.pytorch;

/** Where a module runs. CUDA is Argand's addition. */
public enum Device {
  CPU,
  VULKAN,
  CUDA
}
