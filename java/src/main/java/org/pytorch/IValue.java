package org.pytorch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.argand.Tuple;

/**
 * A value that a module takes or gives: a tensor, a number, a text, or a list, tuple or dict of values. Asking for
 * another kind than it has is an IllegalStateException. A result that is an empty list or dict may be asked for as one
 * of any kind, since nothing in it tells what it is for.
 */
public final class IValue {
  private enum Kind {
    NULL,
    TENSOR,
    BOOL,
    LONG,
    DOUBLE,
    STRING,
    TUPLE,
    BOOL_LIST,
    LONG_LIST,
    DOUBLE_LIST,
    TENSOR_LIST,
    LIST,
    DICT_STRING_KEY,
    DICT_LONG_KEY
  }

  private final Kind kind;
  private final Object data;

  private IValue(Kind kind, Object data) {
    this.kind = kind;
    this.data = data;
  }

  private static IValue of(Kind kind, Object data) {
    return new IValue(kind, Objects.requireNonNull(data, "an IValue of null; optionalNull() makes one"));
  }

  public static IValue optionalNull() {
    return new IValue(Kind.NULL, null);
  }

  public static IValue from(Tensor tensor) {
    return of(Kind.TENSOR, tensor);
  }

  public static IValue from(boolean value) {
    return of(Kind.BOOL, value);
  }

  public static IValue from(long value) {
    return of(Kind.LONG, value);
  }

  public static IValue from(double value) {
    return of(Kind.DOUBLE, value);
  }

  public static IValue from(String value) {
    return of(Kind.STRING, value);
  }

  public static IValue listFrom(boolean... list) {
    return of(Kind.BOOL_LIST, list);
  }

  public static IValue listFrom(long... list) {
    return of(Kind.LONG_LIST, list);
  }

  public static IValue listFrom(double... list) {
    return of(Kind.DOUBLE_LIST, list);
  }

  public static IValue listFrom(Tensor... list) {
    return of(Kind.TENSOR_LIST, list);
  }

  /** IllegalArgumentException unless all are of one kind. */
  public static IValue listFrom(IValue... list) {
    for (IValue v : list)
      if (v.kind != list[0].kind)
        throw new IllegalArgumentException("a list of values of the kinds " + list[0].kind + " and " + v.kind);
    return of(Kind.LIST, list);
  }

  public static IValue tupleFrom(IValue... tuple) {
    return of(Kind.TUPLE, tuple);
  }

  public static IValue dictStringKeyFrom(Map<String, IValue> map) {
    return of(Kind.DICT_STRING_KEY, map);
  }

  public static IValue dictLongKeyFrom(Map<Long, IValue> map) {
    return of(Kind.DICT_LONG_KEY, map);
  }

  public boolean isNull() {
    return kind == Kind.NULL;
  }

  public boolean isTensor() {
    return kind == Kind.TENSOR;
  }

  public boolean isBool() {
    return kind == Kind.BOOL;
  }

  public boolean isLong() {
    return kind == Kind.LONG;
  }

  public boolean isDouble() {
    return kind == Kind.DOUBLE;
  }

  public boolean isString() {
    return kind == Kind.STRING;
  }

  public boolean isTuple() {
    return kind == Kind.TUPLE;
  }

  public boolean isBoolList() {
    return kind == Kind.BOOL_LIST;
  }

  public boolean isLongList() {
    return kind == Kind.LONG_LIST;
  }

  public boolean isDoubleList() {
    return kind == Kind.DOUBLE_LIST;
  }

  public boolean isTensorList() {
    return kind == Kind.TENSOR_LIST;
  }

  public boolean isList() {
    return kind == Kind.LIST;
  }

  public boolean isDictStringKey() {
    return kind == Kind.DICT_STRING_KEY;
  }

  public boolean isDictLongKey() {
    return kind == Kind.DICT_LONG_KEY;
  }

  private boolean isEmptyResult() {
    if (kind == Kind.LIST) return ((IValue[]) data).length == 0;
    return kind == Kind.DICT_STRING_KEY && ((Map<?, ?>) data).isEmpty();
  }

  private Object as(Kind expected) {
    if (isEmptyResult()) {
      if (kind == Kind.LIST && expected == Kind.BOOL_LIST) return new boolean[0];
      if (kind == Kind.LIST && expected == Kind.LONG_LIST) return new long[0];
      if (kind == Kind.LIST && expected == Kind.DOUBLE_LIST) return new double[0];
      if (kind == Kind.LIST && expected == Kind.TENSOR_LIST) return new Tensor[0];
      if (kind == Kind.DICT_STRING_KEY && expected == Kind.DICT_LONG_KEY) return data;
    }
    if (kind != expected) throw new IllegalStateException("expected an IValue of the kind " + expected + ", this is " + kind);
    return data;
  }

  public Tensor toTensor() {
    return (Tensor) as(Kind.TENSOR);
  }

  public boolean toBool() {
    return (Boolean) as(Kind.BOOL);
  }

  public long toLong() {
    return (Long) as(Kind.LONG);
  }

  public double toDouble() {
    return (Double) as(Kind.DOUBLE);
  }

  public String toStr() {
    return (String) as(Kind.STRING);
  }

  public boolean[] toBoolList() {
    return (boolean[]) as(Kind.BOOL_LIST);
  }

  public long[] toLongList() {
    return (long[]) as(Kind.LONG_LIST);
  }

  public double[] toDoubleList() {
    return (double[]) as(Kind.DOUBLE_LIST);
  }

  public Tensor[] toTensorList() {
    return (Tensor[]) as(Kind.TENSOR_LIST);
  }

  public IValue[] toList() {
    return (IValue[]) as(Kind.LIST);
  }

  public IValue[] toTuple() {
    return (IValue[]) as(Kind.TUPLE);
  }

  @SuppressWarnings("unchecked")
  public Map<String, IValue> toDictStringKey() {
    return (Map<String, IValue>) as(Kind.DICT_STRING_KEY);
  }

  @SuppressWarnings("unchecked")
  public Map<Long, IValue> toDictLongKey() {
    return (Map<Long, IValue>) as(Kind.DICT_LONG_KEY);
  }

  // ---- from and to the values of ScriptModule

  private static Object[] toArgand(IValue[] values) {
    Object[] out = new Object[values.length];
    for (int i = 0; i < out.length; ++i) out[i] = values[i].toArgand();
    return out;
  }

  Object toArgand() {
    switch (kind) {
      case TENSOR:
        return toTensor().toArgand();
      case TENSOR_LIST:
        Tensor[] tensors = toTensorList();
        org.argand.Tensor[] out = new org.argand.Tensor[tensors.length];
        for (int i = 0; i < out.length; ++i) out[i] = tensors[i].toArgand();
        return out;
      case TUPLE:
        return Tuple.of(toArgand(toTuple()));
      case LIST:
        return Arrays.asList(toArgand(toList())); // elements may be null
      case DICT_STRING_KEY:
      case DICT_LONG_KEY:
        Map<Object, Object> dict = new LinkedHashMap<>();
        ((Map<?, ?>) data).forEach((key, value) -> dict.put(key, ((IValue) value).toArgand()));
        return dict;
      default:
        return data;
    }
  }

  private static IValue[] all(List<?> values) {
    List<IValue> out = new ArrayList<>();
    for (Object v : values) out.add(fromArgand(v));
    return out.toArray(new IValue[0]);
  }

  private static boolean areAll(Iterable<?> keys, Class<?> type) {
    for (Object key : keys) if (!type.isInstance(key)) return false;
    return true;
  }

  /** Copies tensors. UnsupportedOperationException for values that this API has no kind for. */
  static IValue fromArgand(Object value) {
    if (value == null) return optionalNull();
    if (value instanceof org.argand.Tensor) return from(Tensor.fromArgand((org.argand.Tensor) value));
    if (value instanceof Boolean) return of(Kind.BOOL, value);
    if (value instanceof Long) return of(Kind.LONG, value);
    if (value instanceof Double) return of(Kind.DOUBLE, value);
    if (value instanceof String) return of(Kind.STRING, value);
    if (value instanceof boolean[]) return of(Kind.BOOL_LIST, value);
    if (value instanceof long[]) return of(Kind.LONG_LIST, value);
    if (value instanceof double[]) return of(Kind.DOUBLE_LIST, value);
    if (value instanceof org.argand.Tensor[]) {
      org.argand.Tensor[] given = (org.argand.Tensor[]) value;
      Tensor[] out = new Tensor[given.length];
      for (int i = 0; i < out.length; ++i) out[i] = given[i] == null ? null : Tensor.fromArgand(given[i]);
      return of(Kind.TENSOR_LIST, out);
    }
    if (value instanceof Tuple) return of(Kind.TUPLE, all((Tuple) value));
    if (value instanceof List) return of(Kind.LIST, all((List<?>) value));
    if (value instanceof Map) {
      Map<?, ?> given = (Map<?, ?>) value;
      Map<Object, IValue> out = new LinkedHashMap<>();
      given.forEach((key, v) -> out.put(key, fromArgand(v)));
      if (areAll(given.keySet(), String.class)) return of(Kind.DICT_STRING_KEY, out);
      if (areAll(given.keySet(), Long.class)) return of(Kind.DICT_LONG_KEY, out);
      throw new UnsupportedOperationException("PyTorch's Java API has dicts with texts or integers as keys alone, not "
          + given.keySet() + "; org.argand.ScriptModule gives such a dict");
    }
    throw new UnsupportedOperationException("PyTorch's Java API has no IValue for a " + value.getClass().getSimpleName()
        + "; org.argand.ScriptModule gives such values");
  }
}
