package org.argand;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.argand.internal.Handle;
import org.argand.internal.Library;
import org.argand.internal.Native;

/** Named tensors in an order, with texts beside them: what a file holds. It shares the tensors that it is given. */
public final class StateDict implements AutoCloseable {
  private static final Native NATIVE = Library.NATIVE;
  private final Handle handle;

  public StateDict() {
    this(NATIVE.newState());
  }

  private StateDict(long address) {
    handle = Handle.of(this, address, 0, NATIVE::freeState);
  }

  /** For the library: takes over a native handle. */
  public static StateDict own(long address) {
    return new StateDict(address);
  }

  /** For the library. */
  public Handle handle() {
    return handle;
  }

  /** Reads a file of safetensors or PyTorch, or the index of several; the content decides. Only data is read. */
  public static StateDict load(String path) {
    return load(path, Device.CPU);
  }

  public static StateDict load(String path, Device device) {
    return own(NATIVE.loadState(Library.utf8(path), device.type().number(), device.index()));
  }

  /** A state dict of these tensors. */
  public static StateDict of(Map<String, Tensor> tensors) {
    StateDict out = new StateDict();
    tensors.forEach(out::put);
    return out;
  }

  /** Writes safetensors. The file is the old one or the whole new one at any moment. */
  public void save(String path) {
    long address = handle.acquire();
    try {
      NATIVE.saveState(address, Library.utf8(path));
    } finally {
      handle.release();
    }
  }

  public int size() {
    long address = handle.acquire();
    try {
      return NATIVE.stateSize(address);
    } finally {
      handle.release();
    }
  }

  public List<String> names() {
    long address = handle.acquire();
    try {
      List<String> out = new ArrayList<>();
      int size = NATIVE.stateSize(address);
      for (int i = 0; i < size; ++i) out.add(Library.text(NATIVE.stateName(address, i)));
      return out;
    } finally {
      handle.release();
    }
  }

  /** The tensors by their names. */
  public Map<String, Tensor> tensors() {
    long address = handle.acquire();
    try {
      Map<String, Tensor> out = new LinkedHashMap<>();
      int size = NATIVE.stateSize(address);
      for (int i = 0; i < size; ++i)
        out.put(Library.text(NATIVE.stateName(address, i)), Tensor.own(NATIVE.stateTensor(address, i)));
      return out;
    } finally {
      handle.release();
    }
  }

  /** Adds the tensor, or replaces the one of this name. */
  public void put(String name, Tensor tensor) {
    long address = handle.acquire();
    try {
      long given = tensor.handle().acquire();
      try {
        NATIVE.setStateTensor(address, Library.utf8(name), given);
      } finally {
        tensor.handle().release();
      }
    } finally {
      handle.release();
    }
  }

  /** A text of a safetensors file, or null. */
  public String text(String key) {
    long address = handle.acquire();
    try {
      byte[] found = NATIVE.stateText(address, Library.utf8(key));
      return found == null ? null : Library.text(found);
    } finally {
      handle.release();
    }
  }

  public void putText(String key, String text) {
    long address = handle.acquire();
    try {
      NATIVE.setStateText(address, Library.utf8(key), Library.utf8(text));
    } finally {
      handle.release();
    }
  }

  @Override
  public void close() {
    handle.close();
  }
}
