package org.argand.nn;

import org.argand.Ops;
import org.argand.Tensor;

/** Sets elements to zero with probability p while it is training, and scales the others by 1 / (1 - p). */
public final class Dropout extends Module {
  private final double p;

  public Dropout(double p) {
    if (!(p >= 0 && p <= 1)) throw new IllegalArgumentException("dropout probability from 0 to 1, not " + p);
    this.p = p;
  }

  @Override
  public Tensor forward(Tensor x) {
    return Ops.dropout(x, p, isTraining());
  }
}
