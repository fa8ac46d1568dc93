package org.argand.internal;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.argand.Complex;
import org.argand.Device;
import org.argand.Tensor;
import org.argand.Tuple;

/** Values that a module gives, from words as {@link Arguments} writes them; a tensor is its handle and its bytes. */
public final class Values {
  private final long[] words;
  private int at;

  private Values(long[] words) {
    this.words = words;
  }

  /** The value: null, a Boolean, Long, Double, Complex, String, Device, Tensor, array, List, Tuple or Map. */
  public static Object read(long[] words) {
    return new Values(words).next();
  }

  private Object next() {
    long head = words[at++];
    int length = (int) (head >> 8);
    switch ((int) (head & 255)) {
      case Arguments.BOOL:
        return words[at++] != 0;
      case Arguments.INT:
        return words[at++];
      case Arguments.DOUBLE:
        return number();
      case Arguments.COMPLEX:
        return new Complex(number(), number());
      case Arguments.STRING:
        return new String(bytes(length), StandardCharsets.UTF_8);
      case Arguments.DEVICE:
        long device = words[at++];
        return Device.of(device & 0xffffffffL, device >> 32);
      case Arguments.TENSOR:
        return tensor();
      case Arguments.INTS:
        at += length;
        return java.util.Arrays.copyOfRange(words, at - length, at);
      case Arguments.DOUBLES:
        double[] doubles = new double[length];
        for (int i = 0; i < length; ++i) doubles[i] = number();
        return doubles;
      case Arguments.BOOLS:
        byte[] flags = bytes(length);
        boolean[] bools = new boolean[length];
        for (int i = 0; i < length; ++i) bools[i] = flags[i] != 0;
        return bools;
      case Arguments.TENSORS:
        Tensor[] tensors = new Tensor[length];
        for (int i = 0; i < length; ++i) tensors[i] = tensor();
        return tensors;
      case Arguments.LIST:
        return several(length);
      case Arguments.TUPLE:
        return Tuple.of(several(length).toArray());
      case Arguments.DICT:
        Map<Object, Object> dict = new LinkedHashMap<>();
        for (int i = 0; i < length; ++i) {
          Object key = next();
          dict.put(key, next());
        }
        return dict;
      default:
        return null;
    }
  }

  private double number() {
    return Double.longBitsToDouble(words[at++]);
  }

  private Tensor tensor() {
    long handle = words[at++];
    long bytes = words[at++];
    return handle == 0 ? null : Tensor.own(handle, bytes);
  }

  private List<Object> several(int length) {
    List<Object> out = new ArrayList<>(length);
    for (int i = 0; i < length; ++i) out.add(next());
    return out;
  }

  private byte[] bytes(int length) {
    byte[] out = new byte[length];
    for (int i = 0; i < length; ++i) out[i] = (byte) (words[at + i / 8] >> (8 * (i % 8)));
    at += length / 8 + 1;
    return out;
  }
}
