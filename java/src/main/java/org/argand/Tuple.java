package org.argand;

import java.util.AbstractList;
import java.util.RandomAccess;

/** A tuple of TorchScript: values that a method takes or gives together. A List of another type is a list there. */
public final class Tuple extends AbstractList<Object> implements RandomAccess {
  private final Object[] elements;

  private Tuple(Object[] elements) {
    this.elements = elements;
  }

  public static Tuple of(Object... elements) {
    return new Tuple(elements.clone());
  }

  @Override
  public Object get(int index) {
    return elements[java.util.Objects.checkIndex(index, elements.length)];
  }

  @Override
  public int size() {
    return elements.length;
  }
}
