package org.argand.nn;

import org.argand.Ops;
import org.argand.Tensor;

/** y = x weight^T + bias: [..., inFeatures] to [..., outFeatures]. */
public final class Linear extends Module {
  public final Tensor weight;

  /** Null without one. */
  public final Tensor bias;

  public Linear(long inFeatures, long outFeatures) {
    this(inFeatures, outFeatures, true);
  }

  public Linear(long inFeatures, long outFeatures, boolean withBias) {
    Init.positive("inFeatures", inFeatures);
    Init.positive("outFeatures", outFeatures);
    weight = parameter("weight", Init.kaimingUniform(Ops.empty(new long[] {outFeatures, inFeatures}), inFeatures));
    bias = withBias
        ? parameter("bias", Init.uniform(Ops.empty(new long[] {outFeatures}), 1 / Math.sqrt((double) inFeatures)))
        : null;
  }

  @Override
  public Tensor forward(Tensor x) {
    return Ops.linear(x, weight, bias);
  }
}
