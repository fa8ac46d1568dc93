package org.argand.nn;

import org.argand.Tensor;

/** Modules one after the other, named by their positions. */
public final class Sequential extends Module {
  private final Module[] modules;

  public Sequential(Module... modules) {
    this.modules = modules.clone();
    for (int i = 0; i < modules.length; ++i) module(Integer.toString(i), modules[i]);
  }

  @Override
  public Tensor forward(Tensor x) {
    Tensor y = x;
    for (Module m : modules) y = m.forward(y);
    return y;
  }
}
