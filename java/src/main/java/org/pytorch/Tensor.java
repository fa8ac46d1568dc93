package org.pytorch;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.Arrays;

/**
 * A tensor as elements in a direct buffer of native byte order, with a shape: what a module takes and gives. {@link
 * #toArgand} and {@link #fromArgand} are the way to and from the operators of {@code org.argand}.
 */
public abstract class Tensor {
  final long[] shape;
  final MemoryFormat memoryFormat;

  private Tensor(long[] shape, MemoryFormat memoryFormat) {
    this.shape = shape.clone();
    this.memoryFormat = memoryFormat;
  }

  // ---- buffers
  /** A direct buffer of native byte order for this many elements. */
  public static ByteBuffer allocateByteBuffer(int numElements) {
    return ByteBuffer.allocateDirect(numElements).order(ByteOrder.nativeOrder());
  }

  /** A direct buffer of native byte order for this many elements. */
  public static IntBuffer allocateIntBuffer(int numElements) {
    return ByteBuffer.allocateDirect(Math.multiplyExact(numElements, 4)).order(ByteOrder.nativeOrder()).asIntBuffer();
  }

  /** A direct buffer of native byte order for this many elements. */
  public static FloatBuffer allocateFloatBuffer(int numElements) {
    return ByteBuffer.allocateDirect(Math.multiplyExact(numElements, 4)).order(ByteOrder.nativeOrder()).asFloatBuffer();
  }

  /** A direct buffer of native byte order for this many elements. */
  public static LongBuffer allocateLongBuffer(int numElements) {
    return ByteBuffer.allocateDirect(Math.multiplyExact(numElements, 8)).order(ByteOrder.nativeOrder()).asLongBuffer();
  }

  /** A direct buffer of native byte order for this many elements. */
  public static DoubleBuffer allocateDoubleBuffer(int numElements) {
    return ByteBuffer.allocateDirect(Math.multiplyExact(numElements, 8)).order(ByteOrder.nativeOrder()).asDoubleBuffer();
  }

  // ---- from arrays and buffers

  private static void check(boolean condition, String message) {
    if (!condition) throw new IllegalArgumentException(message);
  }

  private static void checkShape(long[] shape, long elements, MemoryFormat format) {
    check(shape != null, "the shape is null");
    check(format != null, "the memory format is null");
    for (long s : shape) check(s >= 0, "a size is negative: " + Arrays.toString(shape));
    check(format != MemoryFormat.CHANNELS_LAST || shape.length == 4, "CHANNELS_LAST is for 4 dimensions");
    check(format != MemoryFormat.CHANNELS_LAST_3D || shape.length == 5, "CHANNELS_LAST_3D is for 5 dimensions");
    check(numel(shape) == elements,
        "expected " + numel(shape) + " elements for the shape " + Arrays.toString(shape) + ", got " + elements);
  }

  private static void checkBuffer(Buffer data, ByteOrder order) {
    check(data != null, "the data is null");
    check(data.isDirect(), "expected a direct buffer; Tensor.allocateFloatBuffer() and the like make one");
    check(order == ByteOrder.nativeOrder(), "expected a buffer of native byte order");
  }

  /** A tensor of uint8 with a copy of these elements. */
  public static Tensor fromBlobUnsigned(byte[] data, long[] shape) {
    return fromBlobUnsigned(data, shape, MemoryFormat.CONTIGUOUS);
  }

  public static Tensor fromBlobUnsigned(byte[] data, long[] shape, MemoryFormat memoryFormat) {
    check(data != null, "the data is null");
    checkShape(shape, data.length, memoryFormat);
    ByteBuffer copy = allocateByteBuffer(data.length);
    copy.put(data).rewind();
    return new Tensor_uint8(copy, shape, memoryFormat);
  }

  /** A tensor of uint8 over this direct buffer of native byte order, without a copy. */
  public static Tensor fromBlobUnsigned(ByteBuffer data, long[] shape) {
    return fromBlobUnsigned(data, shape, MemoryFormat.CONTIGUOUS);
  }

  public static Tensor fromBlobUnsigned(ByteBuffer data, long[] shape, MemoryFormat memoryFormat) {
    checkBuffer(data, data == null ? null : data.order());
    checkShape(shape, data.capacity(), memoryFormat);
    return new Tensor_uint8(data, shape, memoryFormat);
  }

  /** A tensor of int8 with a copy of these elements. */
  public static Tensor fromBlob(byte[] data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  public static Tensor fromBlob(byte[] data, long[] shape, MemoryFormat memoryFormat) {
    check(data != null, "the data is null");
    checkShape(shape, data.length, memoryFormat);
    ByteBuffer copy = allocateByteBuffer(data.length);
    copy.put(data).rewind();
    return new Tensor_int8(copy, shape, memoryFormat);
  }

  /** A tensor of int8 over this direct buffer of native byte order, without a copy. */
  public static Tensor fromBlob(ByteBuffer data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  public static Tensor fromBlob(ByteBuffer data, long[] shape, MemoryFormat memoryFormat) {
    checkBuffer(data, data == null ? null : data.order());
    checkShape(shape, data.capacity(), memoryFormat);
    return new Tensor_int8(data, shape, memoryFormat);
  }

  /** A tensor of int32 with a copy of these elements. */
  public static Tensor fromBlob(int[] data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  public static Tensor fromBlob(int[] data, long[] shape, MemoryFormat memoryFormat) {
    check(data != null, "the data is null");
    checkShape(shape, data.length, memoryFormat);
    IntBuffer copy = allocateIntBuffer(data.length);
    copy.put(data).rewind();
    return new Tensor_int32(copy, shape, memoryFormat);
  }

  /** A tensor of int32 over this direct buffer of native byte order, without a copy. */
  public static Tensor fromBlob(IntBuffer data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  public static Tensor fromBlob(IntBuffer data, long[] shape, MemoryFormat memoryFormat) {
    checkBuffer(data, data == null ? null : data.order());
    checkShape(shape, data.capacity(), memoryFormat);
    return new Tensor_int32(data, shape, memoryFormat);
  }

  /** A tensor of float32 with a copy of these elements. */
  public static Tensor fromBlob(float[] data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  public static Tensor fromBlob(float[] data, long[] shape, MemoryFormat memoryFormat) {
    check(data != null, "the data is null");
    checkShape(shape, data.length, memoryFormat);
    FloatBuffer copy = allocateFloatBuffer(data.length);
    copy.put(data).rewind();
    return new Tensor_float32(copy, shape, memoryFormat);
  }

  /** A tensor of float32 over this direct buffer of native byte order, without a copy. */
  public static Tensor fromBlob(FloatBuffer data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  public static Tensor fromBlob(FloatBuffer data, long[] shape, MemoryFormat memoryFormat) {
    checkBuffer(data, data == null ? null : data.order());
    checkShape(shape, data.capacity(), memoryFormat);
    return new Tensor_float32(data, shape, memoryFormat);
  }

  /** A tensor of int64 with a copy of these elements. */
  public static Tensor fromBlob(long[] data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  public static Tensor fromBlob(long[] data, long[] shape, MemoryFormat memoryFormat) {
    check(data != null, "the data is null");
    checkShape(shape, data.length, memoryFormat);
    LongBuffer copy = allocateLongBuffer(data.length);
    copy.put(data).rewind();
    return new Tensor_int64(copy, shape, memoryFormat);
  }

  /** A tensor of int64 over this direct buffer of native byte order, without a copy. */
  public static Tensor fromBlob(LongBuffer data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  public static Tensor fromBlob(LongBuffer data, long[] shape, MemoryFormat memoryFormat) {
    checkBuffer(data, data == null ? null : data.order());
    checkShape(shape, data.capacity(), memoryFormat);
    return new Tensor_int64(data, shape, memoryFormat);
  }

  /** A tensor of float64 with a copy of these elements. */
  public static Tensor fromBlob(double[] data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  public static Tensor fromBlob(double[] data, long[] shape, MemoryFormat memoryFormat) {
    check(data != null, "the data is null");
    checkShape(shape, data.length, memoryFormat);
    DoubleBuffer copy = allocateDoubleBuffer(data.length);
    copy.put(data).rewind();
    return new Tensor_float64(copy, shape, memoryFormat);
  }

  /** A tensor of float64 over this direct buffer of native byte order, without a copy. */
  public static Tensor fromBlob(DoubleBuffer data, long[] shape) {
    return fromBlob(data, shape, MemoryFormat.CONTIGUOUS);
  }

  public static Tensor fromBlob(DoubleBuffer data, long[] shape, MemoryFormat memoryFormat) {
    checkBuffer(data, data == null ? null : data.order());
    checkShape(shape, data.capacity(), memoryFormat);
    return new Tensor_float64(data, shape, memoryFormat);
  }

  // ---- properties

  /** The number of elements of a shape. */
  public static long numel(long[] shape) {
    long n = 1;
    for (long s : shape) n = Math.multiplyExact(n, s);
    return n;
  }

  public long numel() {
    return numel(shape);
  }

  public long[] shape() {
    return shape.clone();
  }

  public MemoryFormat memoryFormat() {
    return memoryFormat;
  }

  public abstract DType dtype();

  abstract Buffer buffer();

  private IllegalStateException otherThan(String wanted) {
    return new IllegalStateException("a tensor of " + dtype() + " has no data as an array of " + wanted);
  }

  /** The elements, in the order of the memory format. IllegalStateException unless the dtype is UINT8. */
  public byte[] getDataAsUnsignedByteArray() {
    throw otherThan("uint8");
  }

  /** The elements, in the order of the memory format. IllegalStateException unless the dtype is INT8. */
  public byte[] getDataAsByteArray() {
    throw otherThan("int8");
  }

  /** The elements, in the order of the memory format. IllegalStateException unless the dtype is INT32. */
  public int[] getDataAsIntArray() {
    throw otherThan("int32");
  }

  /** The elements, in the order of the memory format. IllegalStateException unless the dtype is FLOAT32. */
  public float[] getDataAsFloatArray() {
    throw otherThan("float32");
  }

  /** The elements, in the order of the memory format. IllegalStateException unless the dtype is INT64. */
  public long[] getDataAsLongArray() {
    throw otherThan("int64");
  }

  /** The elements, in the order of the memory format. IllegalStateException unless the dtype is FLOAT64. */
  public double[] getDataAsDoubleArray() {
    throw otherThan("float64");
  }

  // ---- to and from org.argand

  /** A tensor over the same memory. */
  public org.argand.Tensor toArgand() {
    if (memoryFormat == MemoryFormat.CONTIGUOUS)
      return org.argand.Tensor.fromBuffer(buffer().rewind(), dtype().argand, shape);
    int d = shape.length;
    long[] inMemory = new long[d]; // N, the dimensions of space, C
    long[] order = new long[d];
    for (int i = 0; i < d; ++i) {
      inMemory[i] = i == 0 ? shape[0] : i == d - 1 ? shape[1] : shape[i + 1];
      order[i] = i == 0 ? 0 : i == 1 ? d - 1 : i - 1;
    }
    try (org.argand.Tensor whole = org.argand.Tensor.fromBuffer(buffer().rewind(), dtype().argand, inMemory)) {
      return whole.permute(order);
    }
  }

  /** A copy of a tensor of one of these dtypes, from any device. */
  public static Tensor fromArgand(org.argand.Tensor tensor) {
    long[] sizes = tensor.sizes();
    switch (tensor.dtype()) {
      case UINT8:
        return fromBlobUnsigned(tensor.toBytes(), sizes);
      case INT8:
        return fromBlob(tensor.toBytes(), sizes);
      case INT32:
        return fromBlob(tensor.toInts(), sizes);
      case FLOAT32:
        return fromBlob(tensor.toFloats(), sizes);
      case INT64:
        return fromBlob(tensor.toLongs(), sizes);
      case FLOAT64:
        return fromBlob(tensor.toDoubles(), sizes);
      default:
        throw new IllegalArgumentException("PyTorch's Java API has no dtype " + tensor.dtype());
    }
  }

  @Override
  public String toString() {
    return "Tensor(" + Arrays.toString(shape) + ", dtype=" + dtype() + ")";
  }

  static final class Tensor_uint8 extends Tensor {
    private final ByteBuffer data;

    private Tensor_uint8(ByteBuffer data, long[] shape, MemoryFormat memoryFormat) {
      super(shape, memoryFormat);
      this.data = data;
    }

    @Override
    public DType dtype() {
      return DType.UINT8;
    }

    @Override
    Buffer buffer() {
      return data.duplicate().order(ByteOrder.nativeOrder());
    }

    @Override
    public byte[] getDataAsUnsignedByteArray() {
      byte[] out = new byte[data.capacity()];
      data.duplicate().rewind().get(out);
      return out;
    }
  }

  static final class Tensor_int8 extends Tensor {
    private final ByteBuffer data;

    private Tensor_int8(ByteBuffer data, long[] shape, MemoryFormat memoryFormat) {
      super(shape, memoryFormat);
      this.data = data;
    }

    @Override
    public DType dtype() {
      return DType.INT8;
    }

    @Override
    Buffer buffer() {
      return data.duplicate().order(ByteOrder.nativeOrder());
    }

    @Override
    public byte[] getDataAsByteArray() {
      byte[] out = new byte[data.capacity()];
      data.duplicate().rewind().get(out);
      return out;
    }
  }

  static final class Tensor_int32 extends Tensor {
    private final IntBuffer data;

    private Tensor_int32(IntBuffer data, long[] shape, MemoryFormat memoryFormat) {
      super(shape, memoryFormat);
      this.data = data;
    }

    @Override
    public DType dtype() {
      return DType.INT32;
    }

    @Override
    Buffer buffer() {
      return data.duplicate();
    }

    @Override
    public int[] getDataAsIntArray() {
      int[] out = new int[data.capacity()];
      data.duplicate().rewind().get(out);
      return out;
    }
  }

  static final class Tensor_float32 extends Tensor {
    private final FloatBuffer data;

    private Tensor_float32(FloatBuffer data, long[] shape, MemoryFormat memoryFormat) {
      super(shape, memoryFormat);
      this.data = data;
    }

    @Override
    public DType dtype() {
      return DType.FLOAT32;
    }

    @Override
    Buffer buffer() {
      return data.duplicate();
    }

    @Override
    public float[] getDataAsFloatArray() {
      float[] out = new float[data.capacity()];
      data.duplicate().rewind().get(out);
      return out;
    }
  }

  static final class Tensor_int64 extends Tensor {
    private final LongBuffer data;

    private Tensor_int64(LongBuffer data, long[] shape, MemoryFormat memoryFormat) {
      super(shape, memoryFormat);
      this.data = data;
    }

    @Override
    public DType dtype() {
      return DType.INT64;
    }

    @Override
    Buffer buffer() {
      return data.duplicate();
    }

    @Override
    public long[] getDataAsLongArray() {
      long[] out = new long[data.capacity()];
      data.duplicate().rewind().get(out);
      return out;
    }
  }

  static final class Tensor_float64 extends Tensor {
    private final DoubleBuffer data;

    private Tensor_float64(DoubleBuffer data, long[] shape, MemoryFormat memoryFormat) {
      super(shape, memoryFormat);
      this.data = data;
    }

    @Override
    public DType dtype() {
      return DType.FLOAT64;
    }

    @Override
    Buffer buffer() {
      return data.duplicate();
    }

    @Override
    public double[] getDataAsDoubleArray() {
      double[] out = new double[data.capacity()];
      data.duplicate().rewind().get(out);
      return out;
    }
  }
}
