package org.pytorch;

/** The type of a tensor's elements. */
public enum DType {
  UINT8(org.argand.DType.UINT8),
  INT8(org.argand.DType.INT8),
  INT32(org.argand.DType.INT32),
  FLOAT32(org.argand.DType.FLOAT32),
  INT64(org.argand.DType.INT64),
  FLOAT64(org.argand.DType.FLOAT64);

  final org.argand.DType argand;

  DType(org.argand.DType argand) {
    this.argand = argand;
  }
}
