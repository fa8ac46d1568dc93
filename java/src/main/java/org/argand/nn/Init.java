package org.argand.nn;

import org.argand.Argand;
import org.argand.Tensor;

/** Initial values of PyTorch's layers, with the same numbers for the same seed. */
final class Init {
  private Init() {}

  static Tensor uniform(Tensor tensor, double bound) {
    try (Argand.NoGrad none = Argand.noGrad()) {
      return tensor.uniform_(-bound, bound);
    }
  }

  /** He et al. 2015, with the slope that PyTorch's linear layers and convolutions use. */
  static Tensor kaimingUniform(Tensor tensor, long fanIn) {
    double a = Math.sqrt(5);
    double gain = Math.sqrt(2.0 / (1 + a * a));
    return uniform(tensor, Math.sqrt(3.0) * (gain / Math.sqrt((double) fanIn)));
  }

  static long product(long... numbers) {
    long out = 1;
    for (long n : numbers) out *= n;
    return out;
  }

  static long positive(String what, long n) {
    if (n <= 0) throw new IllegalArgumentException(what + " must be above 0, got " + n);
    return n;
  }
}
