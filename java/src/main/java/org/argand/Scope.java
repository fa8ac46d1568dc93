package org.argand;

import java.util.ArrayList;
import java.util.List;

/**
 * Closes the tensors that this thread made since the scope began, except those that are kept:
 *
 * <pre>{@code
 * try (Scope scope = Argand.scope()) {
 *   Tensor loss = model.forward(x).mse_loss(y);
 *   return scope.keep(loss.detach());
 * }
 * }</pre>
 *
 * A tensor that leaves a scope belongs to the scope around it, if there is one.
 */
public final class Scope implements AutoCloseable {
  private static final ThreadLocal<Scope> CURRENT = new ThreadLocal<>();

  private final Scope outer = CURRENT.get();
  private final Thread thread = Thread.currentThread();
  private final List<Tensor> made = new ArrayList<>();
  private final List<Tensor> kept = new ArrayList<>();
  private boolean closed;

  Scope() {
    CURRENT.set(this);
  }

  static void note(Tensor tensor) {
    Scope scope = CURRENT.get();
    if (scope != null) scope.made.add(tensor);
  }

  /** The tensor is closed with no scope of this thread any more, as a parameter of a module. */
  public static void release(Tensor tensor) {
    for (Scope s = CURRENT.get(); s != null; s = s.outer)
      for (int i = s.made.size() - 1; i >= 0; --i)
        if (s.made.get(i) == tensor) {
          s.made.remove(i);
          return;
        }
  }

  /** The tensor is not closed with the scope. */
  public <T extends Tensor> T keep(T tensor) {
    kept.add(tensor);
    return tensor;
  }

  /** IllegalStateException unless it is the innermost open scope of this thread. */
  @Override
  public void close() {
    if (closed) return;
    if (Thread.currentThread() != thread || CURRENT.get() != this)
      throw new IllegalStateException("a scope is closed by its own thread, the innermost first");
    closed = true;
    if (outer == null) CURRENT.remove();
    else CURRENT.set(outer);
    for (Tensor t : made) {
      boolean keep = false;
      for (Tensor k : kept) keep |= k == t;
      if (!keep) t.close();
      else if (outer != null) outer.made.add(t);
    }
  }
}
