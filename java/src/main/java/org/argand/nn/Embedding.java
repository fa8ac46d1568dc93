package org.argand.nn;

import org.argand.Ops;
import org.argand.Tensor;

/** Rows of a table by their numbers: [...] of int64 to [..., width]. */
public final class Embedding extends Module {
  public final Tensor weight;

  public Embedding(long rows, long width) {
    weight = parameter("weight", Ops.randn(new long[] {Init.positive("rows", rows), Init.positive("width", width)}));
  }

  @Override
  public Tensor forward(Tensor x) {
    return Ops.embedding(weight, x);
  }
}
