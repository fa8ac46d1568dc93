package org.argand;

import static org.junit.jupiter.api.Assertions.*;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import org.junit.jupiter.api.Test;

class TensorTest {
  @Test
  void arraysOfEveryType() {
    assertArrayEquals(new float[] {1, 2}, Tensor.of(new float[] {1, 2}, 2).toFloats());
    assertArrayEquals(new double[] {1, 2}, Tensor.of(new double[] {1, 2}, 2, 1).toDoubles());
    assertArrayEquals(new long[] {1L << 40}, Tensor.of(new long[] {1L << 40}, 1).toLongs());
    assertArrayEquals(new int[] {7, -8}, Tensor.of(new int[] {7, -8}, 2).toInts());
    assertArrayEquals(new short[] {7, -8}, Tensor.of(new short[] {7, -8}, 2).toShorts());
    assertArrayEquals(new byte[] {7, -8}, Tensor.of(new byte[] {7, -8}, 2).toBytes());
    assertArrayEquals(new byte[] {7, -8}, Tensor.ofUnsigned(new byte[] {7, -8}, 2).toBytes());
    assertArrayEquals(new boolean[] {true, false}, Tensor.of(new boolean[] {true, false}, 2).toBooleans());
    assertEquals(248 + 7, Tensor.ofUnsigned(new byte[] {7, -8}, 2).sum().itemLong());
    assertArrayEquals(new float[0], Tensor.of(new float[0], 0, 3).toFloats());
  }

  @Test
  void properties() {
    Tensor t = Ops.zeros(new long[] {2, 3, 4}, Options.of(DType.INT32));
    assertArrayEquals(new long[] {2, 3, 4}, t.sizes());
    assertArrayEquals(new long[] {12, 4, 1}, t.strides());
    assertEquals(DType.INT32, t.dtype());
    assertEquals(Device.CPU.type(), t.device().type());
    assertEquals(24, t.numel());
    assertEquals(4, t.size(-1));
    assertThrows(IndexOutOfBoundsException.class, () -> t.size(3));
    assertTrue(t.isContiguous());
    Tensor turned = t.transpose(0, 2);
    assertFalse(turned.isContiguous());
    assertArrayEquals(new int[24], turned.toInts());
    assertEquals("tensor([1, 2])", Tensor.of(new long[] {1, 2}, 2).toString());
  }

  @Test
  void buffersShareMemory() {
    FloatBuffer buffer = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder()).asFloatBuffer();
    buffer.put(new float[] {1, 2, 3, 4}).rewind();
    Tensor t = Tensor.fromBuffer(buffer, DType.FLOAT32, 2, 2);
    t.mul_(10);
    assertEquals(40, buffer.get(3));
    buffer.position(2);
    assertArrayEquals(new float[] {30, 40}, Tensor.fromBuffer(buffer, DType.FLOAT32, 2).toFloats());
    ByteBuffer shown = t.asBuffer();
    t.close();
    assertEquals(20, shown.asFloatBuffer().get(1)); // the memory lives as long as the buffer
    Tensor other = Ops.zeros(new long[] {3});
    ByteBuffer old = other.asBuffer();
    other.setData(Ops.ones(new long[] {1000}));
    assertEquals(0, old.asFloatBuffer().get(2));
    assertThrows(IllegalArgumentException.class, () -> Tensor.fromBuffer(buffer.asReadOnlyBuffer(), DType.FLOAT32, 1));
    assertThrows(IllegalArgumentException.class, () -> Tensor.fromBuffer(FloatBuffer.allocate(4), DType.FLOAT32, 4));
    assertThrows(IllegalArgumentException.class, () -> Tensor.fromBuffer(buffer, DType.FLOAT32, 5));
    assertThrows(IllegalArgumentException.class, () -> Tensor.fromBuffer(buffer, DType.FLOAT64, 1));
    FloatBuffer foreign = ByteBuffer.allocateDirect(16)
        .order(ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN).asFloatBuffer();
    assertThrows(IllegalArgumentException.class, () -> Tensor.fromBuffer(foreign, DType.FLOAT32, 4));
    assertThrows(IllegalStateException.class, () -> Ops.ones(new long[] {2, 3}).t().asBuffer());
  }

  @Test
  void scopes() {
    Tensor outside = Tensor.scalar(1);
    Tensor inside;
    Tensor kept;
    Tensor passed;
    try (Scope outer = Argand.scope()) {
      try (Scope scope = Argand.scope()) {
        inside = outside.add(1);
        kept = scope.keep(inside.add(1));
        assertThrows(IllegalStateException.class, outer::close);
      }
      assertTrue(inside.isClosed());
      assertFalse(kept.isClosed());
      passed = kept;
    }
    assertTrue(passed.isClosed()); // it belonged to the outer scope then
    assertFalse(outside.isClosed());
  }
}
