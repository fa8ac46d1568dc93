package org.argand.nn;

import org.argand.Ops;
import org.argand.Tensor;

/** Means of windows that give this size. */
public final class AdaptiveAvgPool2d extends Module {
  private final long[] size;

  public AdaptiveAvgPool2d(long height, long width) {
    size = new long[] {height, width};
  }

  @Override
  public Tensor forward(Tensor x) {
    return Ops.adaptive_avg_pool2d(x, size);
  }
}
