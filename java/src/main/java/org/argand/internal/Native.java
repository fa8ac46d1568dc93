package org.argand.internal;

/**
 * What Java needs of the C interface. {@link Jni} implements it. Handles are addresses of the C interface's handles;
 * texts are UTF-8 and end with a zero byte. A function whose result is a tensor returns its handle and the bytes of its
 * elements, or null for no tensor. Each function throws ArgandException.
 */
public interface Native {
  byte[] version();

  long find(byte[] name);

  /**
   * Calls an overload, or with {@code function} 0 the operator {@code name}. {@code words} is the
   * address of the arguments as {@link Arguments} writes them. Writes three words for each result to the address {@code
   * results}, unless it is 0, and their number to the last of 24: the kind and its value, of a tensor the handle and
   * its bytes, of a list of tensors its place in the returned array and its length.
   */
  long[] call(long function, byte[] name, long words, int used, int arguments, long results);

  /** Of a direct buffer. */
  long address(java.nio.Buffer buffer);

  void free(long tensor);

  /** A tensor over the memory that the tensor has now. The memory is not resized from then on. */
  long shown(long tensor);

  /** Dtype, type of the device, its index, sizes. */
  long[] describe(long tensor);

  long[] strides(long tensor);

  /** 0: requires grad, 1: is a leaf, 2 and above: is contiguous in memory format {@code which - 2}. */
  boolean flag(long tensor, int which);

  double itemDouble(long tensor);

  long itemLong(long tensor);

  byte[] text(long tensor);

  /** A copy of {@code count} elements of a primitive array, which has the element type of the dtype. */
  long[] fromArray(Object array, long[] sizes, int dtype);

  void toArray(long tensor, Object array, int length);

  /** A tensor over the memory of a direct buffer, which it keeps. */
  long[] fromBuffer(java.nio.Buffer buffer, long byteOffset, long byteCapacity, long[] sizes, int dtype);

  /** The memory of a contiguous tensor of the CPU. */
  java.nio.ByteBuffer buffer(long tensor);

  void setData(long tensor, long source);

  void backward(long tensor, long gradient, boolean retainGraph, boolean createGraph);

  long[] grad(long tensor);

  void setGrad(long tensor, long gradient);

  void setRequiresGrad(long tensor, boolean on);

  /** Handle and bytes of each gradient; 0 and 0 for none. */
  long[] gradients(
      long[] outputs, long[] gradOutputs, long[] inputs, boolean retainGraph, boolean createGraph, boolean allowUnused);

  boolean gradEnabled();

  void setGradEnabled(boolean on);

  void manualSeed(long seed);

  long newGenerator(int deviceType, int deviceIndex, long seed);

  void freeGenerator(long generator);

  int numThreads();

  void setNumThreads(int count);

  int deviceCount(int type);

  void synchronize(int deviceType, int deviceIndex);

  long newState();

  long loadState(byte[] path, int deviceType, int deviceIndex);

  void saveState(long state, byte[] path);

  void freeState(long state);

  int stateSize(long state);

  byte[] stateName(long state, int index);

  long[] stateTensor(long state, int index);

  void setStateTensor(long state, byte[] name, long tensor);

  byte[] stateText(long state, byte[] key);

  void setStateText(long state, byte[] key, byte[] text);

  long newOptimizer(byte[] name, long[] parameters, byte[][] options, double[] values);

  void freeOptimizer(long optimizer);

  void zeroGrad(long optimizer, boolean setToNone);

  void step(long optimizer);

  double option(long optimizer, int group, byte[] name);

  void setOption(long optimizer, int group, byte[] name, double value);

  long optimizerState(long optimizer);

  void loadOptimizerState(long optimizer, long state);

  /**
   * A module of a TorchScript archive: of the file {@code path}, or else of the bytes {@code archive}. Device type -1:
   * to where the tensors were saved. Writes to {@code contents} the extra files of these names that are there. Returns
   * the module and the bytes of its tensors.
   */
  long[] loadModule(
      byte[] path, byte[] archive, int deviceType, int deviceIndex, byte[][] names, byte[][] contents);

  void freeModule(long module);

  /**
   * Calls a method with {@code arguments} arguments by position, and then those with these names. Returns its value as
   * {@link Values} reads it, as all functions here that return words.
   */
  long[] callModule(long module, byte[] method, long words, int used, int arguments, byte[][] names);

  long[] attribute(long module, byte[] name);

  void setAttribute(long module, byte[] name, long words, int used);

  long child(long module, byte[] name);

  /** Names of methods (1), attributes (2) or modules below (3). */
  long[] moduleNames(long module, int part);

  byte[] moduleType(long module);

  byte[] signature(long module, byte[] method);

  void train(long module, boolean on);

  boolean isTraining(long module);

  void moveModule(long module, int dtype, int deviceType, int deviceIndex);

  /** Its parameters (0), its buffers (1), or both, detached (2). */
  long moduleState(long module, int which);

  void loadModuleState(long module, long state, boolean strict);
}
