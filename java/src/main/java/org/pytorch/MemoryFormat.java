package org.pytorch;

/** The order of a tensor's elements in memory. */
public enum MemoryFormat {
  CONTIGUOUS,
  CHANNELS_LAST,
  CHANNELS_LAST_3D
}
