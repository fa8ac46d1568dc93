package org.argand.internal;

/** The functions of {@link Native} by JNI (java/src/main/native). */
final class Jni implements Native {
  @Override
  public native byte[] version();

  @Override
  public native long find(byte[] name);

  @Override
  public native long[] call(long function, byte[] name, long words, int used, int arguments, long results);

  @Override
  public native long address(java.nio.Buffer buffer);

  @Override
  public native void free(long tensor);

  @Override
  public native long shown(long tensor);

  @Override
  public native long[] describe(long tensor);

  @Override
  public native long[] strides(long tensor);

  @Override
  public native boolean flag(long tensor, int which);

  @Override
  public native double itemDouble(long tensor);

  @Override
  public native long itemLong(long tensor);

  @Override
  public native byte[] text(long tensor);

  @Override
  public native long[] fromArray(Object array, long[] sizes, int dtype);

  @Override
  public native void toArray(long tensor, Object array, int length);

  @Override
  public native long[] fromBuffer(
      java.nio.Buffer buffer, long byteOffset, long byteCapacity, long[] sizes, int dtype);

  @Override
  public native java.nio.ByteBuffer buffer(long tensor);

  @Override
  public native void setData(long tensor, long source);

  @Override
  public native void backward(long tensor, long gradient, boolean retainGraph, boolean createGraph);

  @Override
  public native long[] grad(long tensor);

  @Override
  public native void setGrad(long tensor, long gradient);

  @Override
  public native void setRequiresGrad(long tensor, boolean on);

  @Override
  public native long[] gradients(
      long[] outputs, long[] gradOutputs, long[] inputs, boolean retainGraph, boolean createGraph, boolean allowUnused);

  @Override
  public native boolean gradEnabled();

  @Override
  public native void setGradEnabled(boolean on);

  @Override
  public native void manualSeed(long seed);

  @Override
  public native long newGenerator(int deviceType, int deviceIndex, long seed);

  @Override
  public native void freeGenerator(long generator);

  @Override
  public native int numThreads();

  @Override
  public native void setNumThreads(int count);

  @Override
  public native int deviceCount(int type);

  @Override
  public native void synchronize(int deviceType, int deviceIndex);

  @Override
  public native long newState();

  @Override
  public native long loadState(byte[] path, int deviceType, int deviceIndex);

  @Override
  public native void saveState(long state, byte[] path);

  @Override
  public native void freeState(long state);

  @Override
  public native int stateSize(long state);

  @Override
  public native byte[] stateName(long state, int index);

  @Override
  public native long[] stateTensor(long state, int index);

  @Override
  public native void setStateTensor(long state, byte[] name, long tensor);

  @Override
  public native byte[] stateText(long state, byte[] key);

  @Override
  public native void setStateText(long state, byte[] key, byte[] text);

  @Override
  public native long newOptimizer(byte[] name, long[] parameters, byte[][] options, double[] values);

  @Override
  public native void freeOptimizer(long optimizer);

  @Override
  public native void zeroGrad(long optimizer, boolean setToNone);

  @Override
  public native void step(long optimizer);

  @Override
  public native double option(long optimizer, int group, byte[] name);

  @Override
  public native void setOption(long optimizer, int group, byte[] name, double value);

  @Override
  public native long optimizerState(long optimizer);

  @Override
  public native void loadOptimizerState(long optimizer, long state);

  @Override
  public native long[] loadModule(
      byte[] path, byte[] archive, int deviceType, int deviceIndex, byte[][] names, byte[][] contents);

  @Override
  public native void freeModule(long module);

  @Override
  public native long[] callModule(
      long module, byte[] method, long words, int used, int arguments, byte[][] names);

  @Override
  public native long[] attribute(long module, byte[] name);

  @Override
  public native void setAttribute(long module, byte[] name, long words, int used);

  @Override
  public native long child(long module, byte[] name);

  @Override
  public native long[] moduleNames(long module, int part);

  @Override
  public native byte[] moduleType(long module);

  @Override
  public native byte[] signature(long module, byte[] method);

  @Override
  public native void train(long module, boolean on);

  @Override
  public native boolean isTraining(long module);

  @Override
  public native void moveModule(long module, int dtype, int deviceType, int deviceIndex);

  @Override
  public native long moduleState(long module, int which);

  @Override
  public native void loadModuleState(long module, long state, boolean strict);
}
