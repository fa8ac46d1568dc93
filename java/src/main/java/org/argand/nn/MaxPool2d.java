package org.argand.nn;

import org.argand.Ops;
import org.argand.Tensor;

/** The largest of each window. */
public final class MaxPool2d extends Module {
  private final long[] kernel;
  private final long[] stride;
  private final long[] padding;

  public MaxPool2d(long kernel) {
    this(kernel, kernel, 0);
  }

  public MaxPool2d(long kernel, long stride, long padding) {
    this.kernel = new long[] {kernel, kernel};
    this.stride = new long[] {stride, stride};
    this.padding = new long[] {padding, padding};
  }

  @Override
  public Tensor forward(Tensor x) {
    return Ops.max_pool2d(x, kernel, stride, padding);
  }
}
