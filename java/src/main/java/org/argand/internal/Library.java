package org.argand.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;

/**
 * Loads the native library: from the folder {@code -Dargand.library.path}, or from the jar, which is unpacked once to a
 * folder of the cache whose name is the hash of the libraries ({@code $ARGAND_CACHE_DIR}, else {@code
 * $XDG_CACHE_HOME/argand}, else {@code ~/.cache/argand}).
 */
public final class Library {
  private static final String JNI = "libargand_jni.so";

  /** The library. */
  public static final Native NATIVE = load();

  private Library() {}

  private static Native load() {
    String given = System.getProperty("argand.library.path");
    Path folder = given != null ? Paths.get(given) : unpacked();
    // The JNI library finds the other two beside it.
    System.load(folder.resolve(JNI).toAbsolutePath().toString());
    return new Jni();
  }

  private static Path cache() {
    String own = System.getenv("ARGAND_CACHE_DIR");
    if (own != null && !own.isEmpty()) return Paths.get(own, "java");
    String xdg = System.getenv("XDG_CACHE_HOME");
    if (xdg != null && !xdg.isEmpty()) return Paths.get(xdg, "argand", "java");
    return Paths.get(System.getProperty("user.home"), ".cache", "argand", "java");
  }

  private static Path unpacked() {
    try {
      // The hash, and the names of the libraries.
      String[] lines = new String(bytes("libraries"), StandardCharsets.US_ASCII).trim().split("\n");
      String hash = lines[0];
      List<String> names = Arrays.asList(lines).subList(1, lines.length);
      Path folder = cache().resolve(hash);
      if (Files.isDirectory(folder)) return folder;
      Files.createDirectories(folder.getParent());
      // Under another name first: a process that is killed, or another one, never leaves half a folder.
      Path work = Files.createTempDirectory(folder.getParent(), hash + ".");
      for (String name : names) {
        try (InputStream in = open(name)) {
          Files.copy(in, work.resolve(name));
        }
      }
      try {
        Files.move(work, folder, StandardCopyOption.ATOMIC_MOVE);
      } catch (FileAlreadyExistsException | java.nio.file.DirectoryNotEmptyException other) {
        for (String name : names) Files.deleteIfExists(work.resolve(name));
        Files.deleteIfExists(work);
      } catch (AtomicMoveNotSupportedException e) {
        Files.move(work, folder);
      }
      return folder;
    } catch (IOException e) {
      throw new UncheckedIOException(
          "the native library of Argand cannot be unpacked; -Dargand.library.path names a folder that has it", e);
    }
  }

  private static InputStream open(String name) throws IOException {
    InputStream in = Library.class.getResourceAsStream("/org/argand/native/" + name);
    if (in == null) throw new IOException("this jar has no native library: there is no " + name);
    return in;
  }

  private static byte[] bytes(String name) throws IOException {
    try (InputStream in = open(name)) {
      return in.readAllBytes();
    }
  }

  /** The text as the C interface takes it. */
  public static byte[] utf8(String text) {
    if (text.indexOf('\0') >= 0) throw new IllegalArgumentException("a text has a zero character: " + text);
    return (text + "\0").getBytes(StandardCharsets.UTF_8);
  }

  /** A text of the C interface. */
  public static String text(byte[] utf8) {
    return new String(utf8, StandardCharsets.UTF_8);
  }
}
