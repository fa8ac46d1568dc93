package org.pytorch;

import static org.junit.jupiter.api.Assertions.*;

import java.nio.FloatBuffer;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** PyTorch's Java API. */
class ApiTest {
  @Test
  void tensors() {
    Tensor t = Tensor.fromBlob(new float[] {1, 2, 3, 4, 5, 6}, new long[] {2, 3});
    assertEquals(DType.FLOAT32, t.dtype());
    assertEquals(6, t.numel());
    assertEquals(24, Tensor.numel(new long[] {2, 3, 4}));
    assertEquals(MemoryFormat.CONTIGUOUS, t.memoryFormat());
    assertArrayEquals(new long[] {2, 3}, t.shape());
    assertArrayEquals(new float[] {1, 2, 3, 4, 5, 6}, t.getDataAsFloatArray());
    assertThrows(IllegalStateException.class, t::getDataAsLongArray);
    assertThrows(IllegalArgumentException.class, () -> Tensor.fromBlob(new float[5], new long[] {2, 3}));
    assertThrows(IllegalArgumentException.class, () -> Tensor.fromBlob(new float[6], new long[] {-2, -3}));
    assertThrows(IllegalArgumentException.class, () -> Tensor.fromBlob((float[]) null, new long[] {0}));
    assertThrows(IllegalArgumentException.class, () -> Tensor.fromBlob(new float[6], null));
    assertThrows(IllegalArgumentException.class, () -> Tensor.fromBlob(FloatBuffer.allocate(6), new long[] {6}));
    assertThrows(IllegalArgumentException.class,
        () -> Tensor.fromBlob(new float[6], new long[] {2, 3}, MemoryFormat.CHANNELS_LAST));
    assertArrayEquals(new byte[] {-1}, Tensor.fromBlobUnsigned(new byte[] {-1}, new long[] {1}).getDataAsUnsignedByteArray());
    assertArrayEquals(new byte[] {-1}, Tensor.fromBlob(new byte[] {-1}, new long[] {1}).getDataAsByteArray());
    assertArrayEquals(new int[] {7}, Tensor.fromBlob(new int[] {7}, new long[] {1}).getDataAsIntArray());
    assertArrayEquals(new long[] {7}, Tensor.fromBlob(new long[] {7}, new long[] {1}).getDataAsLongArray());
    assertArrayEquals(new double[] {7}, Tensor.fromBlob(new double[] {7}, new long[] {1}).getDataAsDoubleArray());
  }

  @Test
  void buffersAreNotCopied() {
    FloatBuffer data = Tensor.allocateFloatBuffer(4);
    Tensor t = Tensor.fromBlob(data, new long[] {2, 2});
    data.put(3, 9);
    assertArrayEquals(new float[] {0, 0, 0, 9}, t.getDataAsFloatArray());
    t.toArgand().add_(1);
    assertArrayEquals(new float[] {1, 1, 1, 10}, t.getDataAsFloatArray());
    assertArrayEquals(new float[] {2, 2, 2, 11}, Tensor.fromArgand(t.toArgand().add(1)).getDataAsFloatArray());
  }

  @Test
  void channelsLast() {
    // N = 1, C = 2, H = 1, W = 3; memory is pixel by pixel.
    Tensor t = Tensor.fromBlob(new float[] {1, 10, 2, 20, 3, 30}, new long[] {1, 2, 1, 3}, MemoryFormat.CHANNELS_LAST);
    org.argand.Tensor a = t.toArgand();
    assertArrayEquals(new long[] {1, 2, 1, 3}, a.sizes());
    assertArrayEquals(new float[] {1, 2, 3, 10, 20, 30}, a.toFloats());
    assertTrue(a.isContiguous(org.argand.MemoryFormat.CHANNELS_LAST));
  }

  @Test
  void values() {
    assertTrue(IValue.optionalNull().isNull());
    assertEquals(3, IValue.from(3L).toLong());
    assertEquals(3.5, IValue.from(3.5).toDouble());
    assertTrue(IValue.from(true).toBool());
    assertEquals("a", IValue.from("a").toStr());
    assertThrows(IllegalStateException.class, () -> IValue.from(3L).toDouble());
    assertThrows(IllegalStateException.class, () -> IValue.optionalNull().toTensor());
    assertArrayEquals(new long[] {1, 2}, IValue.listFrom(1L, 2L).toLongList());
    assertTrue(IValue.listFrom(1.0, 2.0).isDoubleList());
    assertTrue(IValue.listFrom(true, false).isBoolList());
    IValue two = IValue.tupleFrom(IValue.from(1L), IValue.from("b"));
    assertEquals("b", two.toTuple()[1].toStr());
    assertEquals(2, IValue.listFrom(two, two).toList().length);
    assertThrows(IllegalArgumentException.class, () -> IValue.listFrom(IValue.from(1L), IValue.from(1.0)));
    assertEquals(1, IValue.dictStringKeyFrom(Map.of("k", IValue.from(1L))).toDictStringKey().get("k").toLong());
    assertTrue(IValue.dictLongKeyFrom(Map.of(1L, two)).isDictLongKey());
  }

}
