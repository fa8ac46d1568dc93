package org.argand.nn;

import org.argand.Ops;
import org.argand.Tensor;

/** A convolution: [N, in, H, W] to [N, out, H', W']. */
public final class Conv2d extends Module {
  public final Tensor weight;

  /** Null without one. */
  public final Tensor bias;

  private final long[] stride;
  private final long[] padding;
  private final long[] dilation;
  private final long groups;

  public Conv2d(long in, long out, long kernel) {
    this(in, out, kernel, 1, 0);
  }

  public Conv2d(long in, long out, long kernel, long stride, long padding) {
    this(in, out, new long[] {kernel, kernel}, new long[] {stride, stride}, new long[] {padding, padding}, new long[] {1, 1}, 1, true);
  }

  public Conv2d(
      long in, long out, long[] kernel, long[] stride, long[] padding, long[] dilation, long groups, boolean withBias) {
    if (Init.positive("in", in) % Init.positive("groups", groups) != 0 || Init.positive("out", out) % groups != 0)
      throw new IllegalArgumentException("in (" + in + ") and out (" + out + ") must be multiples of groups, " + groups);
    this.stride = stride.clone();
    this.padding = padding.clone();
    this.dilation = dilation.clone();
    this.groups = groups;
    long fanIn = in / groups * Init.product(kernel);
    weight = parameter("weight", Init.kaimingUniform(Ops.empty(new long[] {out, in / groups, kernel[0], kernel[1]}), fanIn));
    bias = withBias ? parameter("bias", Init.uniform(Ops.empty(new long[] {out}), 1 / Math.sqrt((double) fanIn))) : null;
  }

  @Override
  public Tensor forward(Tensor x) {
    return Ops.conv2d(x, weight, bias, stride, padding, dilation, groups);
  }
}
