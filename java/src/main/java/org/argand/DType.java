package org.argand;

/** The type of a tensor's elements. */
public enum DType {
  UINT8(0, 1),
  INT8(1, 1),
  INT16(2, 2),
  INT32(3, 4),
  INT64(4, 8),
  FLOAT16(5, 2),
  FLOAT32(6, 4),
  FLOAT64(7, 8),
  COMPLEX64(9, 8),
  COMPLEX128(10, 16),
  BOOL(11, 1),
  BFLOAT16(15, 2);

  private final int number;
  private final int size;

  DType(int number, int size) {
    this.number = number;
    this.size = size;
  }

  /** PyTorch's number of the dtype. */
  public int number() {
    return number;
  }

  /** Bytes of an element. */
  public int size() {
    return size;
  }

  static DType of(long number) {
    for (DType d : values()) if (d.number == number) return d;
    throw new IllegalArgumentException("there is no dtype of number " + number);
  }
}
