package org.argand;

/** The order of a tensor's elements in memory. */
public enum MemoryFormat {
  CONTIGUOUS,
  PRESERVE,
  CHANNELS_LAST,
  CHANNELS_LAST_3D
}
