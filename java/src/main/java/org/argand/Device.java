package org.argand;

import java.util.Objects;

/** The device of a tensor: "cpu", "cuda", "cuda:1". */
public final class Device {
  /** Types of devices, with PyTorch's numbers. */
  public enum Type {
    CPU(0),
    CUDA(1),
    XPU(12),
    MPS(13),
    META(14),
    PRIVATEUSE1(20);

    private final int number;

    Type(int number) {
      this.number = number;
    }

    public int number() {
      return number;
    }
  }

  public static final Device CPU = new Device(Type.CPU, -1);
  public static final Device CUDA = new Device(Type.CUDA, -1);

  private final Type type;
  private final int index;

  /** {@code index} -1 is the current device of the type. */
  public Device(Type type, int index) {
    this.type = Objects.requireNonNull(type, "type");
    if (index < -1 || index > 127) throw new IllegalArgumentException("a device index from -1 to 127, not " + index);
    this.index = index;
  }

  /** "cpu", "cuda", "cuda:1", "meta". */
  public static Device of(String text) {
    int colon = text.indexOf(':');
    String name = colon < 0 ? text : text.substring(0, colon);
    for (Type type : Type.values()) {
      if (!type.name().equalsIgnoreCase(name)) continue;
      try {
        return new Device(type, colon < 0 ? -1 : Integer.parseInt(text.substring(colon + 1)));
      } catch (NumberFormatException e) {
        break;
      }
    }
    throw new IllegalArgumentException("expected a device such as \"cpu\" or \"cuda:1\", got \"" + text + "\"");
  }

  /** For the library. */
  public static Device of(long type, long index) {
    for (Type t : Type.values()) if (t.number == type) return new Device(t, (int) index);
    throw new IllegalArgumentException("there is no device type of number " + type);
  }

  public Type type() {
    return type;
  }

  public int index() {
    return index;
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof Device && ((Device) o).type == type && ((Device) o).index == index;
  }

  @Override
  public int hashCode() {
    return 31 * type.hashCode() + index;
  }

  @Override
  public String toString() {
    return type.name().toLowerCase(java.util.Locale.ROOT) + (index < 0 ? "" : ":" + index);
  }
}
