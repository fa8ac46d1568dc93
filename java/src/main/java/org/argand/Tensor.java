package org.argand;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import org.argand.internal.Handle;
import org.argand.internal.Library;
import org.argand.internal.Native;

/**
 * A tensor. Its operators are the methods of {@link TensorOps}; {@link Ops} has those that have no tensor as their first
 * argument, too.
 *
 * <p>{@link #close} frees it, a {@link Scope} closes many, and a tensor that is neither is freed after it has become
 * unreachable. A closed tensor throws IllegalStateException. Threads: as in C++; different threads may read one tensor,
 * and one may close it while another uses it.
 */
public final class Tensor extends TensorOps implements AutoCloseable {
  private static final Native NATIVE = Library.NATIVE;
  private final Handle handle;

  private Tensor(long address, long bytes) {
    handle = Handle.of(this, address, bytes, NATIVE::free);
    Scope.note(this);
  }

  /** For the library: takes over a native handle. */
  public static Tensor own(long address, long bytes) {
    return new Tensor(address, bytes);
  }

  static Tensor own(long[] made) {
    return made == null ? null : new Tensor(made[0], made[1]);
  }

  /** For the library. */
  public Handle handle() {
    return handle;
  }

  // ---- from and to Java

  private static long numel(long[] sizes) {
    long n = 1;
    for (long s : sizes) {
      if (s < 0) throw new IllegalArgumentException("a size is negative: " + s);
      n = Math.multiplyExact(n, s);
    }
    return n;
  }

  private static Tensor copy(Object array, int length, long[] sizes, DType dtype) {
    if (numel(sizes) != length)
      throw new IllegalArgumentException(
          "expected " + numel(sizes) + " elements for the shape " + java.util.Arrays.toString(sizes) + ", got " + length);
    return own(NATIVE.fromArray(array, sizes, dtype.number()));
  }

  /** A tensor of float32 with a copy of these elements, row by row. */
  public static Tensor of(float[] elements, long... sizes) {
    return copy(elements, elements.length, sizes, DType.FLOAT32);
  }

  public static Tensor of(double[] elements, long... sizes) {
    return copy(elements, elements.length, sizes, DType.FLOAT64);
  }

  public static Tensor of(long[] elements, long... sizes) {
    return copy(elements, elements.length, sizes, DType.INT64);
  }

  public static Tensor of(int[] elements, long... sizes) {
    return copy(elements, elements.length, sizes, DType.INT32);
  }

  public static Tensor of(short[] elements, long... sizes) {
    return copy(elements, elements.length, sizes, DType.INT16);
  }

  public static Tensor of(byte[] elements, long... sizes) {
    return copy(elements, elements.length, sizes, DType.INT8);
  }

  public static Tensor of(boolean[] elements, long... sizes) {
    return copy(elements, elements.length, sizes, DType.BOOL);
  }

  /** Bytes as uint8. */
  public static Tensor ofUnsigned(byte[] elements, long... sizes) {
    return copy(elements, elements.length, sizes, DType.UINT8);
  }

  /** A tensor without dimensions. */
  public static Tensor scalar(double number) {
    return of(new double[] {number});
  }

  /**
   * A tensor over the memory of a direct buffer from its position on, without a copy. The buffer has native byte order,
   * and elements of the dtype's size, or bytes. The tensor keeps the buffer.
   */
  public static Tensor fromBuffer(Buffer buffer, DType dtype, long... sizes) {
    if (!buffer.isDirect()) throw new IllegalArgumentException("expected a direct buffer");
    if (buffer.isReadOnly()) throw new IllegalArgumentException("expected a buffer that may be written");
    int element = elementSize(buffer);
    if (element != 1 && element != dtype.size())
      throw new IllegalArgumentException("a buffer of " + element + " bytes an element is not one of " + dtype);
    long needed = Math.multiplyExact(numel(sizes), (long) dtype.size());
    long given = (long) buffer.remaining() * element;
    if (needed > given)
      throw new IllegalArgumentException("the shape needs " + needed + " bytes, the buffer has " + given);
    if (orderOf(buffer) != ByteOrder.nativeOrder())
      throw new IllegalArgumentException("expected a buffer of native byte order");
    return own(NATIVE.fromBuffer(buffer, (long) buffer.position() * element, given, sizes, dtype.number()));
  }

  private static int elementSize(Buffer b) {
    if (b instanceof ByteBuffer) return 1;
    if (b instanceof java.nio.ShortBuffer) return 2;
    if (b instanceof java.nio.IntBuffer || b instanceof java.nio.FloatBuffer) return 4;
    if (b instanceof java.nio.LongBuffer || b instanceof java.nio.DoubleBuffer) return 8;
    throw new IllegalArgumentException("no tensor has the elements of a " + b.getClass().getSimpleName());
  }

  private static ByteOrder orderOf(Buffer b) {
    if (b instanceof java.nio.ShortBuffer) return ((java.nio.ShortBuffer) b).order();
    if (b instanceof java.nio.IntBuffer) return ((java.nio.IntBuffer) b).order();
    if (b instanceof java.nio.FloatBuffer) return ((java.nio.FloatBuffer) b).order();
    if (b instanceof java.nio.LongBuffer) return ((java.nio.LongBuffer) b).order();
    if (b instanceof java.nio.DoubleBuffer) return ((java.nio.DoubleBuffer) b).order();
    return ByteOrder.nativeOrder(); // bytes have none
  }

  private int checked(DType... expected) {
    DType dtype = dtype();
    for (DType d : expected) {
      if (d != dtype) continue;
      long n = numel();
      if (n > Integer.MAX_VALUE - 8) throw new IllegalStateException("an array cannot have " + n + " elements");
      return (int) n;
    }
    throw new IllegalStateException("expected a tensor of " + expected[0] + ", this one is of " + dtype);
  }

  private <T> T copyTo(T array, int length) {
    long address = handle.acquire();
    try {
      NATIVE.toArray(address, array, length);
      return array;
    } finally {
      handle.release();
    }
  }

  /** The elements row by row, from any device. IllegalStateException unless the dtype is float32. */
  public float[] toFloats() {
    int n = checked(DType.FLOAT32);
    return copyTo(new float[n], n);
  }

  public double[] toDoubles() {
    int n = checked(DType.FLOAT64);
    return copyTo(new double[n], n);
  }

  public long[] toLongs() {
    int n = checked(DType.INT64);
    return copyTo(new long[n], n);
  }

  public int[] toInts() {
    int n = checked(DType.INT32);
    return copyTo(new int[n], n);
  }

  public short[] toShorts() {
    int n = checked(DType.INT16);
    return copyTo(new short[n], n);
  }

  /** Of int8, or of uint8 as bytes. */
  public byte[] toBytes() {
    int n = checked(DType.INT8, DType.UINT8);
    return copyTo(new byte[n], n);
  }

  public boolean[] toBooleans() {
    int n = checked(DType.BOOL);
    return copyTo(new boolean[n], n);
  }

  /**
   * The memory of a contiguous tensor of the CPU, in native byte order. It lives as long as the buffer does, also if the
   * tensor is closed or gets other memory. It is not resized from now on.
   */
  public ByteBuffer asBuffer() {
    long address = handle.acquire();
    try {
      long shown = NATIVE.shown(address);
      try {
        ByteBuffer buffer = NATIVE.buffer(shown);
        Handle.of(buffer, shown, 0, NATIVE::free);
        return buffer.order(ByteOrder.nativeOrder());
      } catch (RuntimeException e) {
        NATIVE.free(shown);
        throw e;
      }
    } finally {
      handle.release();
    }
  }

  // ---- properties

  private long[] describe() {
    long address = handle.acquire();
    try {
      return NATIVE.describe(address);
    } finally {
      handle.release();
    }
  }

  private boolean flag(int which) {
    long address = handle.acquire();
    try {
      return NATIVE.flag(address, which);
    } finally {
      handle.release();
    }
  }

  public DType dtype() {
    return DType.of(describe()[0]);
  }

  public Device device() {
    long[] all = describe();
    return Device.of(all[1], all[2]);
  }

  public long[] sizes() {
    long[] all = describe();
    return java.util.Arrays.copyOfRange(all, 3, all.length);
  }

  public long[] strides() {
    long address = handle.acquire();
    try {
      return NATIVE.strides(address);
    } finally {
      handle.release();
    }
  }

  public int dim() {
    return describe().length - 3;
  }

  /** The size of a dimension; -1 is the last. */
  public long size(int dim) {
    long[] sizes = sizes();
    int at = dim < 0 ? dim + sizes.length : dim;
    if (at < 0 || at >= sizes.length)
      throw new IndexOutOfBoundsException("dimension " + dim + " of a tensor of " + sizes.length + " dimensions");
    return sizes[at];
  }

  public long numel() {
    return numel(sizes());
  }

  public boolean isContiguous() {
    return isContiguous(MemoryFormat.CONTIGUOUS);
  }

  public boolean isContiguous(MemoryFormat format) {
    return flag(2 + format.ordinal());
  }

  /** The only element. */
  public double item() {
    long address = handle.acquire();
    try {
      return NATIVE.itemDouble(address);
    } finally {
      handle.release();
    }
  }

  public long itemLong() {
    long address = handle.acquire();
    try {
      return NATIVE.itemLong(address);
    } finally {
      handle.release();
    }
  }

  /** Becomes a tensor over the memory of another one; an optimizer that has this tensor sees it. */
  public void setData(Tensor source) {
    long address = handle.acquire();
    try {
      long given = source.handle.acquire();
      try {
        NATIVE.setData(address, given);
      } finally {
        source.handle.release();
      }
    } finally {
      handle.release();
    }
  }

  // ---- gradients

  public boolean requiresGrad() {
    return flag(0);
  }

  public Tensor setRequiresGrad(boolean on) {
    long address = handle.acquire();
    try {
      NATIVE.setRequiresGrad(address, on);
      return this;
    } finally {
      handle.release();
    }
  }

  public boolean isLeaf() {
    return flag(1);
  }

  /** The gradient, or null if there is none. */
  public Tensor grad() {
    long address = handle.acquire();
    try {
      return own(NATIVE.grad(address));
    } finally {
      handle.release();
    }
  }

  /** Null: none. */
  public void setGrad(Tensor gradient) {
    long address = handle.acquire();
    try {
      long given = gradient == null ? 0 : gradient.handle.acquire();
      try {
        NATIVE.setGrad(address, given);
      } finally {
        if (gradient != null) gradient.handle.release();
      }
    } finally {
      handle.release();
    }
  }

  /** Adds the gradients of this tensor of one element to those of the leaves. */
  public void backward() {
    backward(null, false, false);
  }

  public void backward(Tensor gradient, boolean retainGraph, boolean createGraph) {
    long address = handle.acquire();
    try {
      long given = gradient == null ? 0 : gradient.handle.acquire();
      try {
        NATIVE.backward(address, given, retainGraph, createGraph);
      } finally {
        if (gradient != null) gradient.handle.release();
      }
    } finally {
      handle.release();
    }
  }

  static long[] acquire(Tensor[] tensors) {
    long[] out = new long[tensors.length];
    for (int i = 0; i < tensors.length; ++i) {
      try {
        out[i] = Objects.requireNonNull(tensors[i], "a tensor is null").handle.acquire();
      } catch (RuntimeException e) {
        release(tensors, i);
        throw e;
      }
    }
    return out;
  }

  static void release(Tensor[] tensors, int count) {
    for (int i = 0; i < count; ++i) tensors[i].handle.release();
  }

  /** The gradients of the outputs' sum with respect to each input; an input that is not used has null. */
  public static Tensor[] gradients(Tensor[] outputs, Tensor[] inputs, boolean retainGraph, boolean createGraph) {
    long[] from = acquire(outputs);
    try {
      long[] to = acquire(inputs);
      try {
        long[] made = NATIVE.gradients(from, null, to, retainGraph, createGraph, true);
        Tensor[] out = new Tensor[inputs.length];
        for (int i = 0; i < out.length; ++i) out[i] = made[2 * i] == 0 ? null : own(made[2 * i], made[2 * i + 1]);
        return out;
      } finally {
        release(inputs, inputs.length);
      }
    } finally {
      release(outputs, outputs.length);
    }
  }

  // ---- life

  public boolean isClosed() {
    return handle.isClosed();
  }

  @Override
  public void close() {
    handle.close();
  }

  /** As Python prints it. */
  @Override
  public String toString() {
    if (isClosed()) return "a closed tensor";
    long address = handle.acquire();
    try {
      return Library.text(NATIVE.text(address));
    } finally {
      handle.release();
    }
  }
}
