package org.argand;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** What a program does wrong is an exception with the library's text. */
class ErrorsTest {
  private static void fails(ArgandException.Kind kind, String words, Executable f) {
    ArgandException e = assertThrows(ArgandException.class, f);
    assertEquals(kind, e.kind(), e.getMessage());
    assertTrue(e.getMessage().contains(words), e.getMessage());
  }

  @Test
  void ofTheLibrary() {
    Tensor two = Ops.ones(new long[] {2});
    Tensor three = Ops.ones(new long[] {3});
    fails(ArgandException.Kind.SHAPE, "add", () -> two.add(three));
    fails(ArgandException.Kind.VALUE, "no_such", () -> Ops.call("no_such", two));
    fails(ArgandException.Kind.VALUE, "relu", () -> Ops.call("relu", "text"));
    fails(ArgandException.Kind.VALUE, "self", () -> Ops.relu(null));
    fails(ArgandException.Kind.INDEX, "", () -> two.select(5, 0));
    fails(ArgandException.Kind.GRAD, "", () -> two.backward());
    fails(ArgandException.Kind.IO, "no/such/file", () -> StateDict.load("no/such/file"));
    fails(ArgandException.Kind.LINALG, "", () -> Ops.linalg_inv(Ops.zeros(new long[] {2, 2})));
    fails(ArgandException.Kind.OUT_OF_MEMORY, "", () -> Ops.empty(new long[] {Long.MAX_VALUE / 64}));
    fails(ArgandException.Kind.IO, "\u00e4\u20ac", () -> StateDict.load("\u00e4\u20ac"));
    if (Argand.deviceCount(Device.Type.CUDA) == 0)
      fails(ArgandException.Kind.DEVICE, "", () -> Ops.ones(new long[] {2}, Options.DEFAULT.device(Device.CUDA)));
    assertArrayEquals(new float[] {2, 2}, two.add(two).toFloats()); // the next call works
  }

  @Test
  void ofThisPackage() {
    Tensor t = Ops.ones(new long[] {2});
    assertThrows(IllegalArgumentException.class, () -> Tensor.of(new float[] {1, 2}, 3));
    assertThrows(IllegalArgumentException.class, () -> Tensor.of(new float[] {1, 2}, -2));
    assertThrows(ArithmeticException.class, () -> Tensor.of(new float[] {1, 2}, Long.MAX_VALUE, 4));
    assertThrows(IllegalStateException.class, t::toLongs);
    assertThrows(IllegalArgumentException.class, () -> Ops.call("add", t, new Object()));
    assertThrows(IllegalArgumentException.class, () -> t.add(new java.math.BigInteger("5")));
    assertThrows(IllegalArgumentException.class, () -> StateDict.load("a\0b"));
    assertThrows(IllegalArgumentException.class, () -> Device.of("toaster"));
    assertThrows(IllegalArgumentException.class, () -> new Device(Device.Type.CUDA, 500));
  }

  @Test
  void closed() {
    Tensor t = Ops.ones(new long[] {2});
    Tensor other = Ops.ones(new long[] {2});
    t.close();
    t.close();
    assertTrue(t.isClosed());
    assertEquals("a closed tensor", t.toString());
    assertThrows(IllegalStateException.class, () -> t.add(1));
    assertThrows(IllegalStateException.class, () -> other.add(t));
    assertThrows(IllegalStateException.class, () -> Ops.cat(new Tensor[] {other, t}));
    assertThrows(IllegalStateException.class, t::sizes);
    assertThrows(IllegalStateException.class, t::backward);
    assertThrows(IllegalStateException.class, () -> other.setGrad(t));
    assertThrows(IllegalStateException.class, () -> Tensor.gradients(new Tensor[] {other}, new Tensor[] {t}, false, false));
    other.close(); // nothing still holds it after those errors
    assertTrue(other.isClosed());
    StateDict state = new StateDict();
    state.close();
    assertThrows(IllegalStateException.class, state::size);
  }

  /** Threads close tensors that others use. */
  @Test
  void closedMeanwhile() throws InterruptedException {
    for (int round = 0; round < 50; ++round) {
      Tensor t = Ops.ones(new long[] {2000});
      Thread[] threads = new Thread[4];
      java.util.concurrent.atomic.AtomicReference<Throwable> wrong = new java.util.concurrent.atomic.AtomicReference<>();
      for (int i = 0; i < threads.length; ++i) {
        threads[i] = new Thread(() -> {
          try {
            for (int n = 0; n < 200; ++n) {
              try (Tensor sum = t.add(1).sum()) {
                if (sum.item() != 4000) throw new AssertionError("a wrong sum");
              }
            }
          } catch (IllegalStateException closed) {
            // as it should be
          } catch (Throwable e) {
            wrong.set(e);
          }
        });
        threads[i].start();
      }
      Thread.sleep(1);
      t.close();
      for (Thread thread : threads) thread.join();
      assertNull(wrong.get());
    }
  }
}
