package org.argand.optim;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.argand.StateDict;
import org.argand.Tensor;
import org.argand.internal.Handle;
import org.argand.internal.Library;
import org.argand.internal.Native;

/**
 * An optimizer by the name of its class in PyTorch: SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax, NAdam or
 * RAdam. Options are numbers by name; those that are not given have PyTorch's defaults.
 *
 * <pre>{@code
 * Optimizer optimizer = Optimizer.of("Adam", model.parameters(), Map.of("lr", 1e-3));
 * }</pre>
 */
public final class Optimizer implements AutoCloseable {
  private static final Native NATIVE = Library.NATIVE;
  private final Handle handle;

  private Optimizer(long address) {
    handle = Handle.of(this, address, 0, NATIVE::freeOptimizer);
  }

  public static Optimizer of(String name, List<Tensor> parameters, Map<String, Double> options) {
    byte[][] names = options.keySet().stream().map(Library::utf8).toArray(byte[][]::new);
    double[] values = options.values().stream().mapToDouble(Double::doubleValue).toArray();
    long[] given = new long[parameters.size()];
    int held = 0;
    try {
      for (Tensor p : parameters) {
        given[held] = p.handle().acquire();
        ++held;
      }
      return new Optimizer(NATIVE.newOptimizer(Library.utf8(name), given, names, values));
    } finally {
      for (int i = 0; i < held; ++i) parameters.get(i).handle().release();
    }
  }

  public static Optimizer sgd(List<Tensor> parameters, double lr) {
    return of("SGD", parameters, Map.of("lr", lr));
  }

  public static Optimizer sgd(List<Tensor> parameters, double lr, double momentum) {
    Map<String, Double> options = new LinkedHashMap<>();
    options.put("lr", lr);
    options.put("momentum", momentum);
    return of("SGD", parameters, options);
  }

  public static Optimizer adam(List<Tensor> parameters, double lr) {
    return of("Adam", parameters, Map.of("lr", lr));
  }

  public static Optimizer adamW(List<Tensor> parameters, double lr) {
    return of("AdamW", parameters, Map.of("lr", lr));
  }

  /** The gradients become none. */
  public void zeroGrad() {
    zeroGrad(true);
  }

  public void zeroGrad(boolean setToNone) {
    long address = handle.acquire();
    try {
      NATIVE.zeroGrad(address, setToNone);
    } finally {
      handle.release();
    }
  }

  public void step() {
    long address = handle.acquire();
    try {
      NATIVE.step(address);
    } finally {
      handle.release();
    }
  }

  /** The number "lr", "momentum", "beta1", "weight_decay", ... */
  public double option(String name) {
    long address = handle.acquire();
    try {
      return NATIVE.option(address, 0, Library.utf8(name));
    } finally {
      handle.release();
    }
  }

  public void setOption(String name, double value) {
    long address = handle.acquire();
    try {
      NATIVE.setOption(address, 0, Library.utf8(name), value);
    } finally {
      handle.release();
    }
  }

  /** Everything that a resumed run needs. */
  public StateDict stateDict() {
    long address = handle.acquire();
    try {
      return StateDict.own(NATIVE.optimizerState(address));
    } finally {
      handle.release();
    }
  }

  public void loadStateDict(StateDict state) {
    long address = handle.acquire();
    try {
      long given = state.handle().acquire();
      try {
        NATIVE.loadOptimizerState(address, given);
      } finally {
        state.handle().release();
      }
    } finally {
      handle.release();
    }
  }

  @Override
  public void close() {
    handle.close();
  }
}
