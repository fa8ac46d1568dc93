package org.argand.nn;

import org.argand.DType;
import org.argand.Ops;
import org.argand.Options;
import org.argand.Tensor;

/** Batch normalization of [N, C, H, W] over all but C. */
public final class BatchNorm2d extends Module {
  public final Tensor weight;
  public final Tensor bias;
  public final Tensor runningMean;
  public final Tensor runningVar;
  public final Tensor numBatchesTracked;
  private final double eps;
  private final double momentum;

  public BatchNorm2d(long features) {
    this(features, 1e-5, 0.1);
  }

  public BatchNorm2d(long features, double eps, double momentum) {
    this.eps = eps;
    this.momentum = momentum;
    long[] size = {Init.positive("features", features)};
    weight = parameter("weight", Ops.ones(size));
    bias = parameter("bias", Ops.zeros(size));
    runningMean = buffer("running_mean", Ops.zeros(size));
    runningVar = buffer("running_var", Ops.ones(size));
    numBatchesTracked = buffer("num_batches_tracked", Ops.zeros(new long[0], Options.of(DType.INT64)));
  }

  @Override
  public Tensor forward(Tensor x) {
    if (x.dim() != 4) throw new IllegalArgumentException("BatchNorm2d: expected 4 dimensions, got " + x.dim());
    if (isTraining()) numBatchesTracked.add_(1L);
    return Ops.batch_norm(x, weight, bias, runningMean, runningVar, isTraining(), momentum, eps, true);
  }
}
