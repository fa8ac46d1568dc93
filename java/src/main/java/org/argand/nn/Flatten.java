package org.argand.nn;

import org.argand.Ops;
import org.argand.Tensor;

/** Joins all dimensions from 1 on. */
public final class Flatten extends Module {
  @Override
  public Tensor forward(Tensor x) {
    return Ops.flatten(x, 1);
  }
}
