package org.argand;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.argand.internal.Arguments;
import org.argand.internal.Handle;
import org.argand.internal.Library;
import org.argand.internal.Native;
import org.argand.internal.Values;

/**
 * A module of a TorchScript archive, with its program.
 *
 * <p>Methods take and give null for None, Boolean, Long, Double, {@link Complex}, String, {@link Device}, {@link
 * Tensor}; long[], double[], boolean[] and Tensor[] for lists of them; {@link Tuple}, List and Map. An empty list of
 * bools is a List. Arguments may also be of the other integer types, {@link DType} and {@link MemoryFormat}.
 *
 * <p>A module is as it was saved, often in training mode; {@link #eval} switches to evaluation. A closed module throws
 * IllegalStateException. Threads may call one module at once, as far as its methods change no attribute.
 */
public final class ScriptModule implements AutoCloseable {
  private static final Native NATIVE = Library.NATIVE;
  private static final int METHODS = 1;
  private static final int ATTRIBUTES = 2;
  private static final int CHILDREN = 3;
  private static final byte[][] NO_NAMES = {};
  private final Handle handle;

  private ScriptModule(long address, long bytes) {
    handle = Handle.of(this, address, bytes, NATIVE::freeModule);
  }

  // ---- files

  /** Reads an archive that torch.jit.save wrote. Its tensors come to the device where they were saved. */
  public static ScriptModule load(String path) {
    return load(path, null, null);
  }

  /** Null: to where the tensors were saved. */
  public static ScriptModule load(String path, Device device) {
    return load(path, device, null);
  }

  /** The extra files of the archive whose names are keys of the map replace the values there; others stay. */
  public static ScriptModule load(String path, Device device, Map<String, byte[]> extraFiles) {
    return load(Library.utf8(path), null, device, extraFiles);
  }

  /** Reads an archive from memory. */
  public static ScriptModule load(byte[] archive, Device device) {
    return load(null, archive.clone(), device, null);
  }

  private static ScriptModule load(byte[] path, byte[] archive, Device device, Map<String, byte[]> extraFiles) {
    List<String> names = extraFiles == null ? List.of() : new ArrayList<>(extraFiles.keySet());
    byte[][] contents = new byte[names.size()][];
    int type = device == null ? -1 : device.type().number();
    int index = device == null ? -1 : device.index();
    long[] made = NATIVE.loadModule(path, archive, type, index, utf8(names), contents);
    ScriptModule out = new ScriptModule(made[0], made[1]);
    for (int i = 0; i < contents.length; ++i) if (contents[i] != null) extraFiles.put(names.get(i), contents[i]);
    return out;
  }

  private static byte[][] utf8(List<String> names) {
    byte[][] out = new byte[names.size()][];
    for (int i = 0; i < out.length; ++i) out[i] = Library.utf8(names.get(i));
    return out;
  }

  // ---- methods

  /** Calls a method; parameters that get no argument have their defaults. */
  public Object call(String method, Object... arguments) {
    return callNamed(method, Map.of(), arguments);
  }

  /** The same with some arguments by name. */
  public Object callNamed(String method, Map<String, ?> named, Object... arguments) {
    byte[] name = Library.utf8(method);
    List<String> names = new ArrayList<>(named.keySet());
    byte[][] namesOfLast = names.isEmpty() ? NO_NAMES : utf8(names);
    return handle.use(address -> {
      Arguments a = Arguments.begin();
      for (Object x : arguments) a.addAny(x);
      for (String n : names) a.addAny(named.get(n));
      return a.callModule(address, name, namesOfLast);
    });
  }

  /** IllegalStateException if forward gives anything but a tensor; {@link #call} takes and gives any values. */
  public Tensor forward(Tensor... inputs) {
    Object made = call("forward", (Object[]) inputs);
    if (made instanceof Tensor) return (Tensor) made;
    throw new IllegalStateException("forward gave " + (made == null ? "None" : "a " + made.getClass().getSimpleName())
        + ", no Tensor; call(\"forward\", ...) gives any value");
  }

  /** The names of its methods, in the order of the program. */
  public List<String> methods() {
    return names(METHODS);
  }

  /** "forward(x: Tensor, times: int=1) -> Tensor" */
  public String signature(String method) {
    byte[] name = Library.utf8(method);
    return handle.use(address -> Library.text(NATIVE.signature(address, name)));
  }

  /** The name of its class: "__torch__.net.Net". */
  public String typeName() {
    return handle.use(address -> Library.text(NATIVE.moduleType(address)));
  }

  private List<String> names(int part) {
    List<String> out = new ArrayList<>();
    List<?> found = (List<?>) handle.use(address -> Values.read(NATIVE.moduleNames(address, part)));
    for (Object name : found) out.add((String) name);
    return out;
  }

  // ---- attributes

  /** Names of attributes, parameters and buffers that it has itself. */
  public List<String> attributes() {
    return names(ATTRIBUTES);
  }

  /** Names of the modules in it. */
  public List<String> children() {
    return names(CHILDREN);
  }

  /** An attribute, constant, parameter or buffer. A name with dots leads to modules below: "layer.0.weight". */
  public Object get(String name) {
    byte[] text = Library.utf8(name);
    return handle.use(address -> Values.read(NATIVE.attribute(address, text)));
  }

  /** Sets an attribute to a value of its declared type. */
  public void set(String name, Object value) {
    byte[] text = Library.utf8(name);
    handle.run(address -> Arguments.begin().addAny(value).setAttribute(address, text));
  }

  /** A module below: "layer.0". It stays valid when this one is closed. */
  public ScriptModule child(String name) {
    byte[] text = Library.utf8(name);
    return handle.use(address -> new ScriptModule(NATIVE.child(address, text), 0));
  }

  // ---- state

  public ScriptModule train(boolean on) {
    handle.run(address -> NATIVE.train(address, on));
    return this;
  }

  public ScriptModule eval() {
    return train(false);
  }

  /** Whether it behaves as in training: dropout, batch statistics. */
  public boolean isTraining() {
    return handle.use(address -> NATIVE.isTraining(address));
  }

  /** Moves all tensors to a device, in place. */
  public ScriptModule to(Device device) {
    return move(-1, device.type().number(), device.index());
  }

  /** Converts parameters and buffers of floating point, in place. */
  public ScriptModule to(DType dtype) {
    return move(dtype.number(), -1, -1);
  }

  private ScriptModule move(int dtype, int deviceType, int deviceIndex) {
    handle.run(address -> NATIVE.moveModule(address, dtype, deviceType, deviceIndex));
    return this;
  }

  private StateDict state(int which) {
    return handle.use(address -> StateDict.own(NATIVE.moduleState(address, which)));
  }

  private Map<String, Tensor> tensors(int which) {
    try (StateDict state = state(which)) {
      return state.tensors();
    }
  }

  /** Its parameters and those of the modules below. They are the module's own: an optimizer that steps changes it. */
  public Map<String, Tensor> namedParameters() {
    return tensors(0);
  }

  public List<Tensor> parameters() {
    return new ArrayList<>(namedParameters().values());
  }

  public Map<String, Tensor> namedBuffers() {
    return tensors(1);
  }

  /** Parameters and buffers, detached; they share the module's memory. */
  public StateDict stateDict() {
    return state(2);
  }

  /** Copies into its tensors. One error lists all names that do not fit; then nothing has changed. */
  public void loadStateDict(StateDict state) {
    handle.run(address -> state.handle().run(given -> NATIVE.loadModuleState(address, given, true)));
  }

  // ---- life

  public boolean isClosed() {
    return handle.isClosed();
  }

  @Override
  public void close() {
    handle.close();
  }

  @Override
  public String toString() {
    return isClosed() ? "a closed ScriptModule" : "ScriptModule(" + typeName() + ")";
  }
}
