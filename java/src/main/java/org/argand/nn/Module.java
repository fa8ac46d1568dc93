package org.argand.nn;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.argand.Argand;
import org.argand.ArgandException;
import org.argand.DType;
import org.argand.Device;
import org.argand.Scope;
import org.argand.StateDict;
import org.argand.Tensor;

/**
 * The base of layers and networks. A module owns parameters, which train, buffers, which do not, and modules, each under
 * a name. Names of nested ones are joined by dots, as in PyTorch, so files of weights fit.
 */
public abstract class Module implements AutoCloseable {
  private final Map<String, Tensor> parameters = new LinkedHashMap<>();
  private final Map<String, Tensor> buffers = new LinkedHashMap<>();
  private final Map<String, Module> children = new LinkedHashMap<>();
  private boolean training = true;

  public abstract Tensor forward(Tensor x);

  /** A parameter of this module; it requires grad from now on. */
  protected final Tensor parameter(String name, Tensor tensor) {
    add(parameters, name, tensor);
    Scope.release(tensor);
    return tensor.setRequiresGrad(true);
  }

  protected final Tensor buffer(String name, Tensor tensor) {
    add(buffers, name, tensor);
    Scope.release(tensor);
    return tensor;
  }

  protected final <M extends Module> M module(String name, M module) {
    add(children, name, module);
    return module;
  }

  private <T> void add(Map<String, T> map, String name, T value) {
    if (value == null) throw new IllegalArgumentException("'" + name + "' is null");
    if (name.isEmpty() || name.indexOf('.') >= 0) throw new IllegalArgumentException("a name without dots, not '" + name + "'");
    if (parameters.containsKey(name) || buffers.containsKey(name) || children.containsKey(name))
      throw new IllegalArgumentException("'" + name + "' is there already");
    map.put(name, value);
  }

  private void collect(String prefix, Map<String, Tensor> out, boolean withBuffers) {
    parameters.forEach((name, tensor) -> out.put(prefix + name, tensor));
    if (withBuffers) buffers.forEach((name, tensor) -> out.put(prefix + name, tensor));
    children.forEach((name, module) -> module.collect(prefix + name + ".", out, withBuffers));
  }

  public final Map<String, Tensor> namedParameters() {
    Map<String, Tensor> out = new LinkedHashMap<>();
    collect("", out, false);
    return out;
  }

  public final List<Tensor> parameters() {
    return new ArrayList<>(namedParameters().values());
  }

  /** Parameters and buffers, by name. */
  public final Map<String, Tensor> namedTensors() {
    Map<String, Tensor> out = new LinkedHashMap<>();
    collect("", out, true);
    return out;
  }

  /** Whether it behaves as in training: dropout, batch statistics. */
  public final boolean isTraining() {
    return training;
  }

  public Module train(boolean on) {
    training = on;
    children.values().forEach(m -> m.train(on));
    return this;
  }

  public final Module eval() {
    return train(false);
  }

  /** Moves all tensors to a device, in place. */
  public final Module to(Device device) {
    return convert(t -> t.to(device, t.dtype()), namedTensors().values());
  }

  /** Converts parameters, and buffers of floating point, in place. */
  public final Module to(DType dtype) {
    List<Tensor> floating = new ArrayList<>();
    for (Tensor t : namedTensors().values()) if (FLOATING.contains(t.dtype())) floating.add(t);
    return convert(t -> t.to(dtype), floating);
  }

  private static final Set<DType> FLOATING = EnumSet.of(DType.FLOAT16, DType.FLOAT32, DType.FLOAT64, DType.BFLOAT16);

  private Module convert(UnaryOperator<Tensor> f, Collection<Tensor> tensors) {
    for (Tensor t : tensors) {
      try (Argand.NoGrad none = Argand.noGrad();
          Tensor converted = f.apply(t)) {
        t.setData(converted);
      }
    }
    return this;
  }

  /** The tensors, which share the memory of this module's. */
  public final StateDict stateDict() {
    StateDict out = new StateDict();
    namedTensors().forEach((name, t) -> {
      try (Tensor detached = t.detach()) {
        out.put(name, detached);
      }
    });
    return out;
  }

  /** Copies into this module's tensors. One error lists all names that do not fit; then nothing has changed. */
  public final void loadStateDict(StateDict state) {
    Map<String, Tensor> given = state.tensors();
    try (Argand.NoGrad none = Argand.noGrad()) {
      Map<String, Tensor> mine = namedTensors();
      StringBuilder problems = new StringBuilder();
      mine.forEach((name, t) -> {
        Tensor g = given.get(name);
        if (g == null) problems.append("\n  missing: ").append(name);
        else if (!java.util.Arrays.equals(g.sizes(), t.sizes()))
          problems.append("\n  shape of ").append(name).append(": expected ").append(java.util.Arrays.toString(t.sizes()))
              .append(", got ").append(java.util.Arrays.toString(g.sizes()));
      });
      for (String name : given.keySet()) if (!mine.containsKey(name)) problems.append("\n  unexpected: ").append(name);
      if (problems.length() > 0)
        throw new ArgandException(ArgandException.Kind.VALUE.ordinal() + 1,
            "loadStateDict: the state does not fit this module; nothing was changed" + problems);
      mine.forEach((name, t) -> t.copy_(given.get(name)));
    } finally {
      given.values().forEach(Tensor::close);
    }
  }

  /** Writes safetensors. */
  public final void save(String path) {
    try (StateDict state = stateDict()) {
      state.save(path);
    }
  }

  /** Reads a file of weights in any format that {@link StateDict#load} reads. */
  public final void load(String path) {
    try (StateDict state = StateDict.load(path)) {
      loadStateDict(state);
    }
  }

  /** Frees all tensors of this module and of those below it. */
  @Override
  public void close() {
    namedTensors().values().forEach(Tensor::close);
  }
}
