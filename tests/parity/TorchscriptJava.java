import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.pytorch.Device;
import org.pytorch.IValue;
import org.pytorch.LiteModuleLoader;
import org.pytorch.Module;
import org.pytorch.Tensor;

/** Runs what torchscript_java.py wrote into a folder, and prints "ok" or "FAILED" with the name of each case. */
public final class TorchscriptJava {
  private static Path folder;

  private static float[] floats(String name) throws Exception {
    FloatBuffer data =
        ByteBuffer.wrap(Files.readAllBytes(folder.resolve(name))).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
    float[] out = new float[data.capacity()];
    data.get(out);
    return out;
  }

  private static void report(String name, boolean isRight, String what) {
    System.out.println((isRight ? "ok " : "FAILED ") + name + (what.isEmpty() ? "" : ": " + what));
  }

  /** A line: file, shape of the input. */
  private static void network(String file, long[] shape) throws Exception {
    Module net = file.endsWith(".ptl") ? LiteModuleLoader.load(folder.resolve(file).toString())
                                       : Module.load(folder.resolve(file).toString());
    float[] found =
        net.forward(IValue.from(Tensor.fromBlob(floats(file + ".x"), shape))).toTensor().getDataAsFloatArray();
    float[] expected = floats(file + ".y");
    double largest = 0;
    double worst = 0;
    for (int i = 0; i < expected.length; ++i) {
      largest = Math.max(largest, Math.abs(expected[i]));
      worst = Math.max(worst, Math.abs(expected[i] - found[i]));
    }
    report(file, found.length == expected.length && worst <= 1e-4 * largest, "differs by " + worst + " of " + largest);
    net.destroy();
  }

  private static void values() throws Exception {
    Map<String, String> extra = new java.util.HashMap<>(Map.of("spec.json", ""));
    Module m = Module.load(folder.resolve("values.pt").toString(), extra, Device.CPU);
    report("extra file", extra.get("spec.json").equals("{\"a\": 1}"), "");
    for (boolean b : new boolean[] {true, false})
      report("bool", m.runMethod("flag", IValue.from(b)).toBool() == b, "" + b);
    for (long n : new long[] {Long.MIN_VALUE, -1, 0, Long.MAX_VALUE})
      report("int", m.runMethod("number", IValue.from(n)).toLong() == n, "" + n);
    for (double x : new double[] {-Double.MAX_VALUE, Double.MIN_VALUE, Math.E})
      report("float", m.runMethod("real", IValue.from(x)).toDouble() == x, "" + x);
    String text = "a\u00e4\u20ac\ud83d\ude00 text";
    report("str", m.runMethod("thrice", IValue.from(text)).toStr().equals(text + text + text), "");
    report("dict by text",
        m.runMethod("by_text", IValue.dictStringKeyFrom(Map.of("k", IValue.from(7))))
                .toDictStringKey()
                .get("k")
                .toLong()
            == 7,
        "");
    report("dict by int",
        m.runMethod("by_int", IValue.dictLongKeyFrom(Map.of(-5L, IValue.from(7)))).toDictLongKey().get(-5L).toLong()
            == 7,
        "");
    IValue[] sum = m.runMethod("sum", IValue.listFrom(1L, 2L, 3L)).toTuple();
    report("tuple", Arrays.equals(sum[0].toLongList(), new long[] {1, 2, 3}) && sum[1].toLong() == 6, "");
    report("bools", !m.runMethod("all", IValue.listFrom(true, false)).toBool(), "");
    report("floats",
        Arrays.equals(m.runMethod("doubled", IValue.listFrom(1.5, -2.0)).toDoubleList(), new double[] {3, -4}), "");
    report("None",
        m.runMethod("unless_zero", IValue.from(0)).isNull() && m.runMethod("unless_zero", IValue.from(5)).toLong() == 5,
        "");
    report("Optional",
        m.runMethod("is_none", IValue.optionalNull()).toBool() && !m.runMethod("is_none", IValue.from(3)).toBool(), "");
    Tensor one = Tensor.fromBlob(new float[] {1}, new long[] {1});
    report("named tuple", m.runMethod("named", IValue.from(one)).toTuple()[0].toTensor().getDataAsFloatArray()[0] == 2,
        "");
    report("tensors", m.runMethod("tensors", IValue.listFrom(one, one)).toTensorList()[1].getDataAsFloatArray()[0] == 2,
        "");
  }

  public static void main(String[] arguments) throws Exception {
    folder = Path.of(arguments[0]);
    for (String line : Files.readAllLines(folder.resolve("networks"))) {
      String[] words = line.split(" ");
      network(words[0], Arrays.stream(words).skip(1).mapToLong(Long::parseLong).toArray());
    }
    values();
  }
}
