package org.pytorch;

import java.util.Map;
import java.util.Objects;

/**
 * A value that a module takes or gives: a tensor, a number, a text, or a list, tuple or dict of values. Asking for
 * another kind than it has is an IllegalStateException.
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

  private Object as(Kind expected) {
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
}
