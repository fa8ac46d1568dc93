package org.pytorch;

import java.util.Map;

/**
 * Loads modules, as {@link Module#load} does. The archive must have the program's code, as those of
 * _save_for_lite_interpreter have; a flatbuffer has none, and is refused.
 */
public final class LiteModuleLoader {
  private LiteModuleLoader() {}

  public static Module load(String modelPath) {
    return Module.load(modelPath);
  }

  public static Module load(String modelPath, Map<String, String> extraFiles, Device device) {
    return Module.load(modelPath, extraFiles, device);
  }
}
