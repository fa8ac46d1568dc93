package org.argand.internal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.argand.Complex;
import org.argand.DType;
import org.argand.Device;
import org.argand.Generator;
import org.argand.MemoryFormat;
import org.argand.Options;
import org.argand.Tensor;
import org.argand.Tuple;

/**
 * The arguments of a call as words, one object for each thread. An argument is a word with its kind (in the low byte)
 * and its length, and then its value: a word for a number or a handle, two for a complex number, a word for each
 * element of a list of integers, doubles or tensors, three for each element of a list of numbers, bytes with a zero
 * behind them for texts and lists of bools, the values themselves for a list of any, a tuple or a dict, whose keys and
 * values alternate. The words are outside of Java's heap, where the library reads them and writes results without the
 * JVM's functions, which would copy. Tensors are held until the call is over.
 */
public final class Arguments {
  static final int NONE = 0;
  static final int BOOL = 1;
  static final int INT = 2;
  static final int DOUBLE = 3;
  static final int COMPLEX = 4;
  static final int STRING = 5;
  static final int DTYPE = 6;
  static final int DEVICE = 7;
  static final int MEMORY_FORMAT = 8;
  static final int OPTIONS = 9;
  static final int GENERATOR = 10;
  static final int TENSOR = 11;
  static final int INTS = 12;
  static final int DOUBLES = 13;
  static final int BOOLS = 14;
  static final int NUMBERS = 15;
  static final int TENSORS = 16;
  static final int LIST = 17;
  static final int TUPLE = 18;
  static final int DICT = 19;
  private static final int MOST_DEPTH = 100; // of lists in lists
  private static final int MOST_RESULTS = 8;
  private static final ThreadLocal<Arguments> OF_THREAD = ThreadLocal.withInitial(Arguments::new);

  private LongBuffer words = memory(64);
  private long address = Library.NATIVE.address(words);
  private int used;
  private int count;
  private Handle[] held = new Handle[8];
  private int holding;
  private final LongBuffer results = memory(3 * MOST_RESULTS);
  private final long resultsAddress = Library.NATIVE.address(results);

  private Arguments() {}

  private static LongBuffer memory(int words) {
    return ByteBuffer.allocateDirect(Math.multiplyExact(8, words)).order(ByteOrder.nativeOrder()).asLongBuffer();
  }

  /** An empty list of arguments of this thread. */
  public static Arguments begin() {
    Arguments a = OF_THREAD.get();
    a.letGo();
    a.used = 0;
    a.count = 0;
    return a;
  }

  private void letGo() {
    while (holding > 0) {
      Handle handle = held[--holding];
      held[holding] = null;
      handle.release();
    }
  }

  private void head(int kind, int length, int more) {
    long needed = used + 1L + more;
    if (needed > words.capacity()) grow(needed);
    word(kind | (long) length << 8);
    ++count;
  }

  private void grow(long needed) {
    if (needed > Integer.MAX_VALUE / 8) {
      letGo();
      throw new IllegalArgumentException("arguments of more than 2 GB; a tensor can be larger");
    }
    LongBuffer larger = memory((int) Math.min(2 * needed, Integer.MAX_VALUE / 8));
    larger.put(0, words, 0, used);
    words = larger;
    address = Library.NATIVE.address(words);
  }

  private void word(long x) {
    words.put(used++, x);
  }

  private long hold(Handle handle) {
    if (holding == held.length) held = Arrays.copyOf(held, 2 * holding);
    long address;
    try {
      address = handle.acquire();
    } catch (IllegalStateException e) {
      letGo();
      throw new IllegalStateException("argument " + count + " is a tensor or generator that is closed");
    }
    held[holding++] = handle;
    return address;
  }

  private Arguments one(int kind, long value) {
    head(kind, 0, 1);
    word(value);
    return this;
  }

  public Arguments none() {
    head(NONE, 0, 0);
    return this;
  }

  public Arguments add(boolean x) {
    return one(BOOL, x ? 1 : 0);
  }

  public Arguments add(long x) {
    return one(INT, x);
  }

  public Arguments add(double x) {
    return one(DOUBLE, Double.doubleToRawLongBits(x));
  }

  public Arguments add(Boolean x) {
    return x == null ? none() : add(x.booleanValue());
  }

  public Arguments add(Number x) {
    if (x == null) return none();
    head(kindOf(x), 0, 2);
    number(x);
    return this;
  }

  private int kindOf(Number x) {
    if (x instanceof Long || x instanceof Integer || x instanceof Short || x instanceof Byte) return INT;
    if (x instanceof Double || x instanceof Float) return DOUBLE;
    if (x instanceof Complex) return COMPLEX;
    letGo();
    throw new IllegalArgumentException("a number must be an integer type, Float, Double or Complex, not " + x.getClass());
  }

  private void number(Number x) {
    if (x instanceof Complex) {
      word(Double.doubleToRawLongBits(((Complex) x).real()));
      word(Double.doubleToRawLongBits(((Complex) x).imaginary()));
    } else {
      word(kindOf(x) == INT ? x.longValue() : Double.doubleToRawLongBits(x.doubleValue()));
    }
  }

  private Arguments bytes(int kind, byte[] x) {
    head(kind, x.length, x.length / 8 + 1);
    for (int i = 0; i <= x.length; i += 8) { // at least one zero byte is behind them
      long next = 0;
      for (int j = i; j < Math.min(i + 8, x.length); ++j) next |= (x[j] & 255L) << (8 * (j - i));
      word(next);
    }
    return this;
  }

  public Arguments add(String x) {
    return x == null ? none() : bytes(STRING, x.getBytes(StandardCharsets.UTF_8));
  }

  public Arguments add(boolean[] x) {
    if (x == null) return none();
    byte[] flags = new byte[x.length];
    for (int i = 0; i < x.length; ++i) flags[i] = (byte) (x[i] ? 1 : 0);
    return bytes(BOOLS, flags);
  }

  public Arguments add(DType x) {
    return x == null ? none() : one(DTYPE, x.number());
  }

  public Arguments add(Device x) {
    return x == null ? none() : one(DEVICE, x.type().number() & 0xffffffffL | (long) x.index() << 32);
  }

  public Arguments add(MemoryFormat x) {
    return x == null ? none() : one(MEMORY_FORMAT, x.ordinal());
  }

  public Arguments add(Options x) {
    if (x == null) return none();
    head(OPTIONS, 0, 5);
    word(x.dtype() == null ? -1 : x.dtype().number());
    word(x.device() == null ? -1 : x.device().type().number());
    word(x.device() == null ? -1 : x.device().index());
    word(x.requiresGrad() ? 1 : 0);
    word(x.pinMemory() ? 1 : 0);
    return this;
  }

  public Arguments add(Generator x) {
    return x == null ? none() : one(GENERATOR, hold(x.handle()));
  }

  public Arguments add(Tensor x) {
    return x == null ? none() : one(TENSOR, hold(x.handle()));
  }

  public Arguments add(long[] x) {
    if (x == null) return none();
    head(INTS, x.length, x.length);
    words.put(used, x, 0, x.length);
    used += x.length;
    return this;
  }

  public Arguments add(double[] x) {
    if (x == null) return none();
    head(DOUBLES, x.length, x.length);
    for (double d : x) word(Double.doubleToRawLongBits(d));
    return this;
  }

  public Arguments add(Number[] x) {
    if (x == null) return none();
    head(NUMBERS, x.length, 3 * x.length);
    for (Number n : x) {
      int next = used + 3;
      word(kindOf(n));
      number(n);
      used = next;
    }
    return this;
  }

  /** Elements that are null stand for no tensor. */
  public Arguments add(Tensor[] x) {
    if (x == null) return none();
    head(TENSORS, x.length, x.length);
    for (Tensor t : x) word(t == null ? 0 : hold(t.handle()));
    return this;
  }

  /** Any of these kinds. For TorchScript also a List, a Tuple, or a Map of them. */
  public Arguments addAny(Object x) {
    return addAny(x, 0);
  }

  private Arguments addAny(Object x, int depth) {
    if (x == null) return none();
    if (x instanceof Boolean) return add((Boolean) x);
    if (x instanceof Number) return add((Number) x);
    if (x instanceof String) return add((String) x);
    if (x instanceof Tensor) return add((Tensor) x);
    if (x instanceof Tensor[]) return add((Tensor[]) x);
    if (x instanceof long[]) return add((long[]) x);
    if (x instanceof double[]) return add((double[]) x);
    if (x instanceof boolean[]) return add((boolean[]) x);
    if (x instanceof DType) return add((DType) x);
    if (x instanceof Device) return add((Device) x);
    if (x instanceof MemoryFormat) return add((MemoryFormat) x);
    if (x instanceof Options) return add((Options) x);
    if (x instanceof Generator) return add((Generator) x);
    if (x instanceof Number[]) return add((Number[]) x);
    if (x instanceof Map) return addMap((Map<?, ?>) x, depth);
    if (x instanceof List) return addList((List<?>) x, depth);
    letGo();
    throw new IllegalArgumentException("argument " + count + ": the library takes no " + x.getClass().getName());
  }

  private void nested(Object x, int depth) {
    int outer = count; // one argument, whatever is in it
    if (depth >= MOST_DEPTH) {
      letGo();
      throw new IllegalArgumentException("argument " + count + ": values nested deeper than " + MOST_DEPTH);
    }
    addAny(x, depth + 1);
    count = outer;
  }

  private Arguments addList(List<?> x, int depth) {
    head(x instanceof Tuple ? TUPLE : LIST, x.size(), 0);
    for (Object element : x) nested(element, depth);
    return this;
  }

  private Arguments addMap(Map<?, ?> x, int depth) {
    head(DICT, x.size(), 0);
    for (Map.Entry<?, ?> entry : x.entrySet()) {
      nested(entry.getKey(), depth);
      nested(entry.getValue(), depth);
    }
    return this;
  }

  /** Calls a method of a module; the last arguments have these names. */
  public Object callModule(long module, byte[] method, byte[][] names) {
    try {
      return Values.read(Library.NATIVE.callModule(module, method, address, used, count - names.length, names));
    } finally {
      letGo();
    }
  }

  /** Sets an attribute of a module to the only argument. */
  public void setAttribute(long module, byte[] name) {
    try {
      Library.NATIVE.setAttribute(module, name, address, used);
    } finally {
      letGo();
    }
  }

  /** Calls and returns all results: tensors, arrays of tensors, numbers, bools. */
  public Object[] call(long function, byte[] name) {
    try {
      long[] lists = Library.NATIVE.call(function, name, address, used, count, resultsAddress);
      int made = (int) results.get(3 * MOST_RESULTS - 1);
      Object[] out = new Object[made];
      for (int i = 0; i < made; ++i) out[i] = result(i, lists);
      return out;
    } finally {
      letGo();
    }
  }

  private Object result(int i, long[] lists) {
    long a = results.get(3 * i + 1);
    long b = results.get(3 * i + 2);
    switch ((int) results.get(3 * i)) {
      case TENSOR:
        return a == 0 ? null : Tensor.own(a, b);
      case TENSORS:
        Tensor[] list = new Tensor[(int) b];
        for (int j = 0; j < b; ++j) {
          long handle = lists[(int) a + 2 * j];
          list[j] = handle == 0 ? null : Tensor.own(handle, lists[(int) a + 2 * j + 1]);
        }
        return list;
      case BOOL:
        return a != 0;
      case INT:
        return a;
      case DOUBLE:
        return Double.longBitsToDouble(a);
      case COMPLEX:
        return new Complex(Double.longBitsToDouble(a), Double.longBitsToDouble(b));
      default:
        return null;
    }
  }

  /** Calls an operator whose only result is a tensor. */
  public Tensor callTensor(long function) {
    try {
      Library.NATIVE.call(function, null, address, used, count, resultsAddress);
      return Tensor.own(results.get(1), results.get(2));
    } finally {
      letGo();
    }
  }

  /** Calls an operator whose only result is a bool. */
  public boolean callBoolean(long function) {
    return (Boolean) call(function, null)[0];
  }

  /** Calls an operator whose results are tensors; a list of them is joined to the others. */
  public Tensor[] callTensors(long function) {
    Object[] made = call(function, null);
    if (made.length == 1 && made[0] instanceof Tensor[]) return (Tensor[]) made[0];
    java.util.ArrayList<Tensor> out = new java.util.ArrayList<>();
    for (Object o : made) {
      if (o instanceof Tensor[]) out.addAll(Arrays.asList((Tensor[]) o));
      else out.add((Tensor) o);
    }
    return out.toArray(new Tensor[0]);
  }

  /** Calls an operator that writes into an argument; its results are dropped. */
  public void callNothing(long function) {
    try {
      Library.NATIVE.call(function, null, address, used, count, 0);
    } finally {
      letGo();
    }
  }
}
