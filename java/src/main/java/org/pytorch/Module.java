package org.pytorch;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.argand.Argand;
import org.argand.Scope;
import org.argand.ScriptModule;

/**
 * A module of a TorchScript archive, for inference: it is in evaluation mode, and nothing is recorded for gradients.
 * {@link ScriptModule} does what this class does not. A program that does not call {@link #destroy} leaves that to the
 * collector; afterwards calls are an IllegalStateException.
 */
public final class Module {
  private final ScriptModule module;

  private Module(ScriptModule module) {
    this.module = module;
  }

  /** Reads an archive. An ArgandException says why it cannot be read. */
  public static Module load(String modelPath) {
    return load(modelPath, null, Device.CPU);
  }

  /** The extra files of the archive whose names are keys of the map, which may be null, replace the values there. */
  public static Module load(String modelPath, Map<String, String> extraFiles, Device device) {
    Map<String, byte[]> files = new LinkedHashMap<>();
    if (extraFiles != null) for (String name : extraFiles.keySet()) files.put(name, null);
    ScriptModule module = ScriptModule.load(Objects.requireNonNull(modelPath, "modelPath"), place(device), files);
    files.forEach((name, content) -> {
      if (content != null) extraFiles.put(name, new String(content, StandardCharsets.UTF_8));
    });
    return new Module(module.eval());
  }

  private static org.argand.Device place(Device device) {
    switch (Objects.requireNonNull(device, "device")) {
      case CPU:
        return org.argand.Device.CPU;
      case CUDA:
        return org.argand.Device.CUDA;
      default:
        throw new UnsupportedOperationException("expected a module on CPU or CUDA; Argand has no device " + device);
    }
  }

  public IValue forward(IValue... inputs) {
    return runMethod("forward", inputs);
  }

  /** Inputs are on the CPU. Where the module is on a GPU, its program has to move them there, as with PyTorch. */
  public IValue runMethod(String methodName, IValue... inputs) {
    try (Argand.NoGrad none = Argand.noGrad();
        Scope scope = Argand.scope()) { // frees the native tensors of arguments and result, which is copied
      Object[] arguments = new Object[inputs.length];
      for (int i = 0; i < inputs.length; ++i)
        arguments[i] = Objects.requireNonNull(inputs[i], "an input is null; IValue.optionalNull() is None").toArgand();
      return IValue.fromArgand(module.call(methodName, arguments));
    }
  }

  /** Frees the module. */
  public void destroy() {
    module.close();
  }
}
