package org.argand;

/** An error of the library, with its text: the operator, the argument, what was expected and what came. */
public final class ArgandException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** What kind of error it is. */
  public enum Kind {
    /** An exception of another library. */
    OTHER,
    /** Sizes that do not fit together. */
    SHAPE,
    /** A dtype that the operator does not take. */
    DTYPE,
    /** Operands on different devices, or no such device. */
    DEVICE,
    /** A dimension or an index out of range. */
    INDEX,
    /** Any other argument out of its domain, or of the wrong kind. */
    VALUE,
    /** Misuse of autograd. */
    GRAD,
    /** Memory is lacking. */
    OUT_OF_MEMORY,
    /** A file is missing or damaged, or a disk is full. */
    IO,
    /** A failure between processes. */
    DISTRIBUTED,
    /** A matrix that has no inverse, a decomposition that does not converge. */
    LINALG,
    /** Not implemented. */
    NOT_IMPLEMENTED,
    /** A bug of Argand. */
    INTERNAL
  }

  private final Kind kind;

  /** For the library: {@code number} is the kind in the C interface, which counts from 1. */
  public ArgandException(int number, String message) {
    super(message);
    Kind[] kinds = Kind.values();
    kind = number >= 1 && number <= kinds.length ? kinds[number - 1] : Kind.OTHER;
  }

  /** What kind of error it is. */
  public Kind kind() {
    return kind;
  }
}
