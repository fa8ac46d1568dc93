package org.argand;

/** How a factory function makes a tensor: {@code Options.of(DType.INT64).device(Device.CUDA)}. */
public final class Options {
  /** What the library does by default. */
  public static final Options DEFAULT = new Options(null, null, false, false);

  private final DType dtype;
  private final Device device;
  private final boolean requiresGrad;
  private final boolean pinMemory;

  private Options(DType dtype, Device device, boolean requiresGrad, boolean pinMemory) {
    this.dtype = dtype;
    this.device = device;
    this.requiresGrad = requiresGrad;
    this.pinMemory = pinMemory;
  }

  public static Options of(DType dtype) {
    return DEFAULT.dtype(dtype);
  }

  public Options dtype(DType x) {
    return new Options(x, device, requiresGrad, pinMemory);
  }

  public Options device(Device x) {
    return new Options(dtype, x, requiresGrad, pinMemory);
  }

  public Options requiresGrad(boolean x) {
    return new Options(dtype, device, x, pinMemory);
  }

  public Options pinMemory(boolean x) {
    return new Options(dtype, device, requiresGrad, x);
  }

  /** Null: the default. */
  public DType dtype() {
    return dtype;
  }

  /** Null: the default. */
  public Device device() {
    return device;
  }

  public boolean requiresGrad() {
    return requiresGrad;
  }

  public boolean pinMemory() {
    return pinMemory;
  }
}
