package org.argand;

import org.argand.internal.Handle;
import org.argand.internal.Library;

/** A generator of random numbers, for the parameter {@code generator} of operators. */
public final class Generator implements AutoCloseable {
  private final Handle handle;

  public Generator(Device device, long seed) {
    long made = Library.NATIVE.newGenerator(device.type().number(), device.index(), seed);
    handle = Handle.of(this, made, 0, Library.NATIVE::freeGenerator);
  }

  /** For the library. */
  public Handle handle() {
    return handle;
  }

  @Override
  public void close() {
    handle.close();
  }
}
