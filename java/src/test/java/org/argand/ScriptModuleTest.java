package org.argand;

import static org.junit.jupiter.api.Assertions.*;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.argand.optim.Optimizer;
import org.junit.jupiter.api.Test;

/** TorchScript, on the archive of tests/script_archive.py. */
class ScriptModuleTest {
  private static final String NET = System.getProperty("argand.test.archive");

  private static Tensor ones() {
    return Ops.ones(new long[] {3});
  }

  @Test
  void methods() {
    ScriptModule net = ScriptModule.load(NET);
    assertEquals("__torch__.Net", net.typeName());
    assertEquals("forward", net.methods().get(0));
    assertEquals("forward(x: Tensor, times: int=1) -> Tensor", net.signature("forward"));
    assertTrue(net.isTraining());
    assertArrayEquals(new float[] {1, 2, 3}, net.forward(ones()).toFloats());
    assertFalse(net.eval().isTraining());
    assertArrayEquals(new float[] {1.5f, 4.5f, 9.5f}, ((Tensor) net.call("forward", ones(), 2)).toFloats());
    assertArrayEquals(
        new float[] {1.5f, 1.5f, 1.5f}, ((Tensor) net.callNamed("forward", Map.of("times", 0), ones())).toFloats());
    assertEquals(3L, net.call("divide", 7, 2));
    assertNull(net.call("count_up"));
  }

  @Test
  void values() {
    ScriptModule net = ScriptModule.load(NET);
    Tensor x = Tensor.of(new float[] {1, 2}, 2);
    assertEquals(Tuple.of(Device.CPU, new Complex(1, -2)), net.call("place", Device.CPU, new Complex(1, -2)));
    assertEquals(Tuple.of(true, 5L, 2.0, "t\u20ac", Tuple.of(1L, "a"), null),
        net.call("single", true, (short) 5, 2, "t\u20ac", Tuple.of(1, "a")));
    List<?> lists = (Tuple) net.call(
        "lists", new boolean[] {true}, new long[] {3}, new double[] {0.5}, new Tensor[] {x}, List.of("a"));
    assertArrayEquals(new boolean[] {true}, (boolean[]) lists.get(0));
    assertArrayEquals(new long[] {3}, (long[]) lists.get(1));
    assertArrayEquals(new double[] {0.5}, (double[]) lists.get(2));
    assertArrayEquals(new float[] {1, 2}, ((Tensor[]) lists.get(3))[0].toFloats());
    assertEquals(List.of("a"), lists.get(4));
    // Lists of any values stand for those of one type.
    lists =
        (Tuple) net.call("lists", List.of(true, false), List.of(3), new Number[] {1, 0.5}, List.of(x, x), List.of());
    assertArrayEquals(new long[] {3}, (long[]) lists.get(1));
    assertEquals(2, ((Tensor[]) lists.get(3)).length);
    assertEquals(Tuple.of(Map.of(), Map.of(7L, 1.5)), net.call("dicts", Map.of(), Map.of(7, 1.5)));
    assertEquals((long) DType.FLOAT64.number(), net.call("same", DType.FLOAT64));
    assertEquals(3, ((List<?>) net.call("nested", 3)).size());
    List<Object> many = new ArrayList<>();
    for (int i = 0; i < 1000; ++i) many.add(Map.of("k" + i, Tuple.of(i, List.of(0.5, "t"))));
    List<?> back = (List<?>) net.call("same", many);
    assertEquals(Map.of("k999", Tuple.of(999L, List.of(0.5, "t"))), back.get(999));
  }

  @Test
  void attributes() {
    ScriptModule net = ScriptModule.load(NET);
    assertEquals(List.of("weight", "count", "training", "sizes", "note"), net.attributes());
    assertEquals(List.of("layer"), net.children());
    assertEquals(0.5, net.get("scale"));
    assertArrayEquals(new long[] {2, 3}, (long[]) net.get("sizes"));
    assertNull(net.get("note"));
    net.set("note", "n");
    assertEquals("n", net.get("note"));
    assertThrows(ArgandException.class, () -> net.set("note", 5));
    assertThrows(ArgandException.class, () -> net.get("nothing"));
    ScriptModule layer = net.child("layer");
    net.close();
    assertArrayEquals(new float[] {0.5f}, ((Tensor) layer.get("bias")).toFloats());
    assertThrows(ArgandException.class, () -> layer.child("bias"));
  }

  @Test
  void trains() {
    ScriptModule net = ScriptModule.load(NET);
    assertEquals(List.of("weight", "layer.bias"), new ArrayList<>(net.namedParameters().keySet()));
    assertEquals(List.of("count"), new ArrayList<>(net.namedBuffers().keySet()));
    List<Tensor> parameters = net.parameters();
    parameters.forEach(p -> p.setRequiresGrad(true));
    Optimizer optimizer = Optimizer.of("SGD", parameters, Map.of("lr", 1.0));
    ((Tensor) net.call("forward", ones(), 2)).sum().backward();
    optimizer.step();
    assertArrayEquals(new float[] {-1, -2, -3}, ((Tensor) net.get("weight")).toFloats());
    ScriptModule other = ScriptModule.load(NET, Device.CPU);
    other.loadStateDict(net.stateDict());
    assertArrayEquals(new float[] {-1, -2, -3}, ((Tensor) other.get("weight")).toFloats());
    assertThrows(ArgandException.class, () -> other.loadStateDict(new StateDict()));
    assertEquals(DType.FLOAT64, ((Tensor) other.to(DType.FLOAT64).get("weight")).dtype());
    assertThrows(ArgandException.class, () -> other.to(DType.INT32));
    other.to(Device.CPU);
  }

  @Test
  void memory() throws Exception {
    byte[] archive = Files.readAllBytes(Path.of(NET));
    Map<String, byte[]> files = new HashMap<>();
    files.put("labels.txt", null);
    files.put("other.txt", null);
    ScriptModule.load(NET, Device.CPU, files).close();
    assertEquals("cat\nd\u00f6g\n", new String(files.get("labels.txt"), StandardCharsets.UTF_8));
    assertNull(files.get("other.txt"));
    ScriptModule net = ScriptModule.load(archive, Device.CPU);
    assertArrayEquals(new float[] {1, 2, 3}, net.forward(ones()).toFloats());
    for (int cut = 0; cut < archive.length; cut += 501) {
      byte[] part = java.util.Arrays.copyOf(archive, cut);
      assertEquals(
          ArgandException.Kind.IO, assertThrows(ArgandException.class, () -> ScriptModule.load(part, null)).kind());
    }
    for (int i = 0; i < 300; ++i) ScriptModule.load(archive, null); // left to the collector
  }

  @Test
  void errors() {
    ScriptModule net = ScriptModule.load(NET);
    assertThrows(ArgandException.class, () -> net.call("backward"));
    assertThrows(ArgandException.class, () -> net.signature("backward"));
    assertThrows(ArgandException.class, () -> net.call("forward"));
    assertThrows(ArgandException.class, () -> net.callNamed("forward", Map.of("time", 1), ones()));
    assertThrows(ArgandException.class, () -> net.forward(Ops.ones(new long[] {2})));
    assertThrows(ArgandException.class, () -> ScriptModule.load("no/such/net.pt"));
    assertThrows(ArgandException.class, () -> net.call("same", Map.of(List.of(), 1)));
    assertThrows(IllegalArgumentException.class, () -> net.call("same", new Object()));
    assertThrows(IllegalArgumentException.class, () -> net.call("same", List.of(ones(), new Object())));
    List<Object> itself = new ArrayList<>();
    itself.add(itself);
    assertThrows(IllegalArgumentException.class, () -> net.call("same", itself));
    Tensor closed = ones();
    closed.close();
    assertThrows(IllegalStateException.class, () -> net.call("same", List.of(closed)));
    assertThrows(ArgandException.class, () -> net.call("divide", 1, 0));
    assertThrows(ArgandException.class, () -> net.forward());
    assertThrows(ArgandException.class, () -> Ops.call("cat", List.of(ones(), ones()))); // for operators: Tensor[]
  }

  @Test
  void closed() throws InterruptedException {
    ScriptModule net = ScriptModule.load(NET);
    Thread[] threads = new Thread[4];
    java.util.concurrent.atomic.AtomicReference<Throwable> wrong = new java.util.concurrent.atomic.AtomicReference<>();
    for (int i = 0; i < threads.length; ++i) {
      threads[i] = new Thread(() -> {
        try {
          for (int n = 0; n < 10000; ++n) {
            try (Tensor x = ones(); Tensor y = net.forward(x)) {
              if (y.numel() != 3) throw new AssertionError("another shape");
            }
          }
        } catch (IllegalStateException e) {
          // closed meanwhile
        } catch (Throwable e) {
          wrong.set(e);
        }
      });
      threads[i].start();
    }
    Thread.sleep(20);
    net.close();
    net.close();
    for (Thread thread : threads) thread.join();
    assertNull(wrong.get());
    assertTrue(net.isClosed());
    assertEquals("a closed ScriptModule", net.toString());
    assertThrows(IllegalStateException.class, net::parameters);
    assertThrows(IllegalStateException.class, () -> net.call("same", 1));
    assertThrows(IllegalStateException.class, net::eval);
  }
}
