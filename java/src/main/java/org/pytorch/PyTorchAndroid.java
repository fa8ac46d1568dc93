package org.pytorch;

/** Settings of the process. */
public final class PyTorchAndroid {
  private PyTorchAndroid() {}

  public static void setNumThreads(int numThreads) {
    org.argand.Argand.setNumThreads(numThreads);
  }
}
