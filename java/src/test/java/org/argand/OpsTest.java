package org.argand;

import static org.junit.jupiter.api.Assertions.*;

import java.lang.reflect.Field;
import org.argand.internal.Library;
import org.junit.jupiter.api.Test;

class OpsTest {
  private static final Tensor A = Tensor.of(new float[] {1, 2, 3, 4}, 2, 2);

  @Test
  void everyNameIsFound() throws ReflectiveOperationException {
    Field names = Ops.class.getDeclaredField("NAMES");
    names.setAccessible(true);
    int count = 0;
    for (String name : (String[]) names.get(null)) {
      assertNotEquals(0, Library.NATIVE.find(Library.utf8(name)), name);
      ++count;
    }
    assertTrue(count > 1000);
  }

  @Test
  void argumentsOfEveryKind() {
    assertArrayEquals(new float[] {2, 4, 6, 8}, A.add(A).toFloats());
    assertArrayEquals(new float[] {2, 3, 4, 5}, A.add(1).toFloats());
    assertArrayEquals(new float[] {3, 6, 9, 12}, A.add(A, 2).toFloats());
    assertArrayEquals(new float[] {4, 6}, A.sum(new long[] {0}).toFloats());
    assertEquals(10, A.sum().item());
    assertEquals(DType.FLOAT64, A.sum(DType.FLOAT64).dtype());
    assertArrayEquals(new float[] {1, 2, 3, 4, 1, 2, 3, 4}, Ops.cat(new Tensor[] {A, A}).toFloats());
    assertArrayEquals(new float[] {1, 2}, Ops.chunk(A, 2)[0].toFloats());
    assertArrayEquals(new float[] {2, 4}, A.max(1, false)[0].toFloats());
    assertArrayEquals(new float[] {7, 10, 15, 22}, Ops.einsum("ij,jk->ik", new Tensor[] {A, A}).toFloats());
    assertArrayEquals(new float[] {2, 2, 3, 3}, A.clamp(2, 3).toFloats());
    assertTrue(A.equal(A.clone()));
    assertEquals(DType.COMPLEX64, A.mul(new Complex(0, 1)).dtype());
    assertEquals(DType.INT64, Ops.ones(new long[] {2}, Options.of(DType.INT64)).dtype());
    Tensor copy = A.clone();
    assertSame(copy, copy.mul_(2));
    assertArrayEquals(new float[] {2, 4, 6, 8}, copy.toFloats());
    Tensor out = Ops.empty(new long[] {0});
    Ops.neg_out(A, out);
    assertArrayEquals(new float[] {-1, -2, -3, -4}, out.toFloats());
    try (Generator g = new Generator(Device.CPU, 3); Generator h = new Generator(Device.CPU, 3)) {
      Tensor half = Ops.full(new long[] {64}, 0.5);
      assertTrue(Ops.bernoulli(half, g).equal(Ops.bernoulli(half, h)));
    }
    assertEquals(2, Ops.call("max", A, 1).length);
  }

  @Test
  void manyArguments() {
    Tensor[] list = new Tensor[500];
    java.util.Arrays.fill(list, A);
    Tensor joined = Ops.cat(list);
    assertEquals(1000, joined.size(0));
    assertEquals(1000, joined.unbind(0).length);
    Object[] options = new Object[40];
    java.util.Arrays.fill(options, Options.DEFAULT);
    assertThrows(ArgandException.class, () -> Ops.call("relu", options));
  }
}
