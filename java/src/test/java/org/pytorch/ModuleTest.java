package org.pytorch;

import static org.junit.jupiter.api.Assertions.*;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.argand.ArgandException;
import org.argand.Argand;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** PyTorch's Java API for modules, on the archive of tests/script_archive.py. */
class ModuleTest {
  static final String NET = System.getProperty("argand.test.archive");
  @TempDir Path folder;

  private static IValue floats(float... values) {
    return IValue.from(Tensor.fromBlob(values, new long[] {values.length}));
  }

  @Test
  void forward() {
    Module net = Module.load(NET);
    Tensor y = net.forward(floats(1, 1, 1)).toTensor(); // in evaluation mode, as it adds the bias
    assertArrayEquals(new float[] {1.5f, 2.5f, 3.5f}, y.getDataAsFloatArray());
    assertArrayEquals(new long[] {3}, y.shape());
    y = net.forward(floats(1, 1, 1), IValue.from(2)).toTensor();
    assertArrayEquals(new float[] {1.5f, 4.5f, 9.5f}, y.getDataAsFloatArray());
    Module lite = LiteModuleLoader.load(NET, null, Device.CPU);
    assertEquals(3, lite.runMethod("divide", IValue.from(7), IValue.from(2)).toLong());
    net.destroy();
    net.destroy();
    assertThrows(IllegalStateException.class, () -> net.forward(floats(1, 1, 1)));
    assertTrue(Argand.isGradEnabled());
  }

  @Test
  void valuesOfEveryKind() {
    Module net = Module.load(NET);
    IValue[] single =
        net.runMethod("single", IValue.from(true), IValue.from(-5), IValue.from(2.5), IValue.from("d\u00f6g\u0000"),
               IValue.tupleFrom(IValue.from(1), IValue.from("a")), IValue.optionalNull())
            .toTuple();
    assertTrue(single[0].toBool());
    assertEquals(-5, single[1].toLong());
    assertEquals(2.5, single[2].toDouble());
    assertEquals("d\u00f6g\u0000", single[3].toStr());
    assertEquals("a", single[4].toTuple()[1].toStr());
    assertTrue(single[5].isNull());
    Tensor x = Tensor.fromBlob(new double[] {1, 2}, new long[] {1, 2});
    assertArrayEquals(new double[] {1, 2},
        net.runMethod("single", IValue.from(false), IValue.from(1), IValue.from(1.0), IValue.from(""),
               IValue.tupleFrom(IValue.from(1), IValue.from("a")), IValue.from(x))
            .toTuple()[5]
            .toTensor()
            .getDataAsDoubleArray());

    IValue[] lists = net.runMethod("lists", IValue.listFrom(true, false), IValue.listFrom(3L, 4L), IValue.listFrom(0.5),
                            IValue.listFrom(x, x), IValue.listFrom(IValue.from("a"), IValue.from("b")))
                         .toTuple();
    assertArrayEquals(new boolean[] {true, false}, lists[0].toBoolList());
    assertArrayEquals(new long[] {3, 4}, lists[1].toLongList());
    assertArrayEquals(new double[] {0.5}, lists[2].toDoubleList());
    assertArrayEquals(new long[] {1, 2}, lists[3].toTensorList()[1].shape());
    assertEquals("b", lists[4].toList()[1].toStr());

    IValue[] dicts = net.runMethod("dicts", IValue.dictStringKeyFrom(Map.of("x", IValue.from(x))),
                            IValue.dictLongKeyFrom(Map.of(7L, IValue.from(1.5))))
                         .toTuple();
    assertEquals(DType.FLOAT64, dicts[0].toDictStringKey().get("x").toTensor().dtype());
    assertEquals(1.5, dicts[1].toDictLongKey().get(7L).toDouble());

    IValue[] nested = net.runMethod("nested", IValue.from(2)).toList();
    assertArrayEquals(new double[] {0.5, 1.5}, nested[1].toDictStringKey().get("entry").toTuple()[1].toDoubleList());
    IValue[] empty = net.runMethod("empty").toTuple();
    assertEquals(0, empty[0].toBoolList().length);
    assertTrue(empty[1].toDictLongKey().isEmpty());
    assertThrows(IllegalStateException.class, () -> empty[0].toTuple());
    assertTrue(net.runMethod("count_up").isNull());
    assertTrue(
        net.runMethod("same", IValue.listFrom(IValue.optionalNull(), IValue.optionalNull())).toList()[1].isNull());
  }

  @Test
  void channelsLast() {
    Module net = Module.load(NET);
    Tensor x = Tensor.fromBlob(new float[] {1, 10, 2, 20, 3, 30}, new long[] {1, 2, 1, 3}, MemoryFormat.CHANNELS_LAST);
    Tensor y = net.runMethod("same", IValue.from(x)).toTensor();
    assertArrayEquals(new long[] {1, 2, 1, 3}, y.shape());
    assertArrayEquals(new float[] {1, 2, 3, 10, 20, 30}, y.getDataAsFloatArray());
  }

  @Test
  void extraFiles() {
    Map<String, String> files = new HashMap<>(Map.of("labels.txt", "", "other.txt", "as it was"));
    Module.load(NET, files, Device.CPU).destroy();
    assertEquals(Map.of("labels.txt", "cat\nd\u00f6g\n", "other.txt", "as it was"), files);
  }

  @Test
  void errors() throws Exception {
    Module net = Module.load(NET);
    ArgandException e = assertThrows(ArgandException.class, () -> net.runMethod("backward"));
    assertTrue(e.getMessage().contains("'backward' is not defined in __torch__.Net"), e.getMessage());
    e = assertThrows(ArgandException.class, () -> net.forward(IValue.from("cat")));
    assertTrue(e.getMessage().contains("expected a value of type Tensor for argument 'x'"), e.getMessage());
    e = assertThrows(ArgandException.class, () -> net.forward(floats(1, 2)));
    assertEquals(ArgandException.Kind.SHAPE, e.kind());
    e = assertThrows(ArgandException.class, () -> net.runMethod("part"));
    assertEquals(ArgandException.Kind.NOT_IMPLEMENTED, e.kind());
    assertThrows(NullPointerException.class, () -> net.forward((IValue) null));
    assertThrows(UnsupportedOperationException.class, () -> Module.load(NET, null, Device.VULKAN));
    e = assertThrows(ArgandException.class, () -> Module.load("no/such/net.pt"));
    assertEquals(ArgandException.Kind.IO, e.kind());
    assertTrue(e.getMessage().contains("no/such/net.pt"), e.getMessage());
    byte[] archive = Files.readAllBytes(Path.of(NET));
    Path cut = folder.resolve("cut.ptl");
    Files.write(cut, java.util.Arrays.copyOf(archive, archive.length / 2));
    assertThrows(ArgandException.class, () -> LiteModuleLoader.load(cut.toString()));
    Files.write(cut, "....PTMF flatbuffer".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    e = assertThrows(ArgandException.class, () -> LiteModuleLoader.load(cut.toString()));
    assertTrue(e.getMessage().contains("flatbuffer"), e.getMessage());
  }
}
