package org.argand.nn;

import org.argand.Ops;
import org.argand.Tensor;

/** Normalization over the last dimensions. */
public final class LayerNorm extends Module {
  public final Tensor weight;
  public final Tensor bias;
  private final long[] shape;
  private final double eps;

  public LayerNorm(long... shape) {
    this(1e-5, shape);
  }

  public LayerNorm(double eps, long... shape) {
    this.shape = shape.clone();
    this.eps = eps;
    weight = parameter("weight", Ops.ones(this.shape));
    bias = parameter("bias", Ops.zeros(this.shape));
  }

  @Override
  public Tensor forward(Tensor x) {
    return Ops.layer_norm(x, shape, weight, bias, eps);
  }
}
