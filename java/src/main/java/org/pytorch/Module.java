package org.pytorch;

import java.util.Map;

/** A module from a TorchScript file. */
public final class Module {
  private Module() {}

  /** UnsupportedOperationException: TorchScript files cannot be run yet. */
  public static Module load(String modelPath) {
    return load(modelPath, null, Device.CPU);
  }

  public static Module load(String modelPath, Map<String, String> extraFiles, Device device) {
    throw new UnsupportedOperationException(
        "Module.load(\"" + modelPath + "\"" + (extraFiles == null || extraFiles.isEmpty() ? "" : ", extra files")
            + ", " + device + "): Argand for Java does not run TorchScript files yet; org.argand.StateDict.load reads"
            + " their parameters");
  }

  public IValue forward(IValue... inputs) {
    return runMethod("forward", inputs);
  }

  public IValue runMethod(String methodName, IValue... inputs) {
    throw new UnsupportedOperationException(methodName + " with " + inputs.length + " inputs: no module can be loaded yet");
  }

  public void destroy() {}
}
