package org.argand;

import org.argand.internal.Handle;
import org.argand.internal.Library;

/** What concerns the library as a whole, or the calling thread. */
public final class Argand {
  private Argand() {}

  public static String version() {
    return Library.text(Library.NATIVE.version());
  }

  /** A scope, which closes the tensors that are made in it. */
  public static Scope scope() {
    return new Scope();
  }

  /** Seeds the default generators of all devices. */
  public static void manualSeed(long seed) {
    Library.NATIVE.manualSeed(seed);
  }

  public static int numThreads() {
    return Library.NATIVE.numThreads();
  }

  public static void setNumThreads(int count) {
    Library.NATIVE.setNumThreads(count);
  }

  /** How many devices of a type there are: 0 without a driver. */
  public static int deviceCount(Device.Type type) {
    return Library.NATIVE.deviceCount(type.number());
  }

  /** Waits for all work of a device and reports what failed there. */
  public static void synchronize(Device device) {
    Library.NATIVE.synchronize(device.type().number(), device.index());
  }

  /** Whether operators of this thread record what backward needs. */
  public static boolean isGradEnabled() {
    return Library.NATIVE.gradEnabled();
  }

  public static void setGradEnabled(boolean on) {
    Library.NATIVE.setGradEnabled(on);
  }

  /** {@code try (Argand.NoGrad g = Argand.noGrad()) { ... }}: nothing is recorded in between. */
  public static NoGrad noGrad() {
    return new NoGrad();
  }

  /** Switches recording off until it is closed. */
  public static final class NoGrad implements AutoCloseable {
    private final boolean before = isGradEnabled();

    NoGrad() {
      setGradEnabled(false);
    }

    @Override
    public void close() {
      setGradEnabled(before);
    }
  }

  /** Bytes of native memory that Java objects own, each tensor with its elements. */
  public static long liveBytes() {
    return Handle.liveBytes();
  }
}
